/** Drives a scheduler in real time: one thread per data-parallel rank. */
@NullMarked
package dev.warmpath.fake.live;

import org.jspecify.annotations.NullMarked;
