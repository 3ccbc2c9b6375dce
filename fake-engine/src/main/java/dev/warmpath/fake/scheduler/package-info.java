/**
 * The simulated engine's scheduler: a single-writer state machine without clocks and threads.
 *
 * <p>{@link dev.warmpath.fake.scheduler.EngineCore} takes commands and a time, and returns what
 * happened as values. Whoever drives it decides whether that time is real or virtual.
 *
 * <p>The models follow the mocker of NVIDIA Dynamo. {@link dev.warmpath.fake.scheduler.VllmCore} is
 * vLLM's v1 scheduler: running requests first, then strict FIFO admission, chunked prefill under a
 * token budget, preemption by recomputation, and a block-granular prefix cache with LRU reuse, with
 * the host's memory and a disk below it if asked for. {@link
 * dev.warmpath.fake.scheduler.SglangCore} is SGLang's. Both take part in handoffs between prefill
 * and decode workers.
 */
@NullMarked
package dev.warmpath.fake.scheduler;

import org.jspecify.annotations.NullMarked;
