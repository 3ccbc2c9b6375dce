package dev.warmpath.fake.scheduler;

import java.util.Objects;
import java.util.OptionalLong;

/**
 * One sequence to compute.
 *
 * <p>The output is planned before the request is submitted, which makes a generation a pure
 * function of its prompt.
 *
 * @param id unique among the requests the scheduler knows at a time
 * @param content what the sequence consists of
 * @param promptTokens length of the prompt
 * @param outputTokens how many tokens will be generated; 0 for a request that only needs its prompt
 *     computed, such as an embedding
 * @param cacheNamespace two requests share cached prefixes only when this is equal (cache salt,
 *     LoRA adapter)
 */
public record EngineRequest(
    long id, BlockSource content, int promptTokens, int outputTokens, long cacheNamespace) {

  /** Checks the lengths. */
  public EngineRequest {
    Objects.requireNonNull(content, "content");
    if (promptTokens < 0 || outputTokens < 0) {
      throw new IllegalArgumentException("token counts must be 0 or more");
    }
    if (content instanceof BlockSource.Tokens tokens
        && (tokens.prompt().length != promptTokens || tokens.output().length < outputTokens)) {
      throw new IllegalArgumentException("there must be a token id for each token");
    }
  }

  /**
   * Creates a request from token ids. The arrays are not copied; nobody may change them afterwards.
   *
   * @param id unique among the requests the scheduler knows at a time
   * @param prompt prompt token ids
   * @param plannedOutput the token ids that will be generated
   * @param cacheNamespace two requests share cached prefixes only when this is equal
   */
  public EngineRequest(long id, int[] prompt, int[] plannedOutput, long cacheNamespace) {
    this(
        id,
        new BlockSource.Tokens(prompt, plannedOutput),
        prompt.length,
        plannedOutput.length,
        cacheNamespace);
  }

  /**
   * Returns the number by which cache changes name the first block of this sequence.
   *
   * @param blockSize the engine's
   * @return its chained hash, or empty if the sequence has no full block
   */
  public OptionalLong firstBlock(int blockSize) {
    return promptTokens + outputTokens < blockSize
        ? OptionalLong.empty()
        : OptionalLong.of(new BlockHashes(this, blockSize).first(1)[0]);
  }
}
