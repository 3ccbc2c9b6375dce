/** The {@code warmpath} command line: one jar that shows and measures what the library does. */
@NullMarked
package dev.warmpath.examples;

import org.jspecify.annotations.NullMarked;
