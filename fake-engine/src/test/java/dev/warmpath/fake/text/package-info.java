@NullMarked
package dev.warmpath.fake.text;

import org.jspecify.annotations.NullMarked;
