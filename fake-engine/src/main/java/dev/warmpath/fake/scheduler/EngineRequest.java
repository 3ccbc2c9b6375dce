package dev.warmpath.fake.scheduler;

import java.util.Objects;

/**
 * One sequence to compute, in tokens.
 *
 * <p>The output is planned before the request is submitted, which makes a generation a pure
 * function of its prompt. The arrays are not copied; nobody may change them afterwards.
 *
 * @param id unique among the requests the scheduler knows at a time
 * @param prompt prompt token ids
 * @param plannedOutput the token ids that will be generated; empty for a request that only needs
 *     its prompt computed, such as an embedding
 * @param cacheNamespace two requests share cached prefixes only when this is equal (cache salt,
 *     LoRA adapter)
 */
public record EngineRequest(long id, int[] prompt, int[] plannedOutput, long cacheNamespace) {
  /** Checks that the arrays are present. */
  public EngineRequest {
    Objects.requireNonNull(prompt, "prompt");
    Objects.requireNonNull(plannedOutput, "plannedOutput");
  }
}
