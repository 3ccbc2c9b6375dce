/**
 * The simulated engine's scheduler: a single-writer state machine without clocks and threads.
 *
 * <p>{@link dev.warmpath.fake.scheduler.EngineCore} takes commands and a time, and returns what
 * happened as values. Whoever drives it decides whether that time is real or virtual. The model
 * follows the mocker of NVIDIA Dynamo, which itself follows vLLM's v1 scheduler: running requests
 * first, then strict FIFO admission, chunked prefill under a token budget, preemption by
 * recomputation, and a block-granular prefix cache with LRU reuse.
 */
@NullMarked
package dev.warmpath.fake.scheduler;

import org.jspecify.annotations.NullMarked;
