/**
 * Load: workloads and traces, and the generator that drives router clients with them and measures
 * what comes back.
 */
@NullMarked
package dev.warmpath.fake.load;

import org.jspecify.annotations.NullMarked;
