/**
 * What is known of each worker's state and load, for how long it may be believed, and the in-flight
 * counters.
 */
@NullMarked
package dev.warmpath.health;

import org.jspecify.annotations.NullMarked;
