/**
 * Prefill and decode on separate workers: one request, two legs, and a session that owns their
 * rendezvous, their coordinated cancellation and the retry of the whole pair.
 */
@NullMarked
package dev.warmpath.pd;

import org.jspecify.annotations.NullMarked;
