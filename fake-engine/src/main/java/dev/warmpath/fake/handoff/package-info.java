/**
 * Moves a prompt's KV from a prefill worker to a decode worker: the protocol, as a state machine
 * without clocks and threads.
 */
@NullMarked
package dev.warmpath.fake.handoff;

import org.jspecify.annotations.NullMarked;
