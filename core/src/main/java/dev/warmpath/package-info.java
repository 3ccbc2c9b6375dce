/** The facade: {@link dev.warmpath.RouterClient} and its builder. */
@NullMarked
package dev.warmpath;

import org.jspecify.annotations.NullMarked;
