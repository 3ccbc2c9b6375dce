/** The HTTP faces of the imitated engines. */
@NullMarked
package dev.warmpath.fake.internal.surface;

import org.jspecify.annotations.NullMarked;
