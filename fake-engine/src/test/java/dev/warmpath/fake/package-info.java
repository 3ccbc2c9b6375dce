@NullMarked
package dev.warmpath.fake;

import org.jspecify.annotations.NullMarked;
