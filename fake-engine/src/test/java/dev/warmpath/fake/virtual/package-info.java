@NullMarked
package dev.warmpath.fake.virtual;

import org.jspecify.annotations.NullMarked;
