/**
 * Simulated engines: workers that behave like SGLang, vLLM or ATOM over real HTTP and need no GPU.
 *
 * <p>{@link dev.warmpath.fake.FakeEngine} is one worker, {@link dev.warmpath.fake.FakeFleet}
 * several of them.
 */
@NullMarked
package dev.warmpath.fake;

import org.jspecify.annotations.NullMarked;
