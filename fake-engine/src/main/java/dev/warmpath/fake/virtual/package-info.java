/**
 * Drives schedulers in virtual time: one thread, one queue of events, and no waiting.
 *
 * <p>Everything here is single-threaded and deterministic: the same calls give the same events in
 * the same order.
 */
@NullMarked
package dev.warmpath.fake.virtual;

import org.jspecify.annotations.NullMarked;
