package dev.warmpath.fake.scheduler;

import org.jspecify.annotations.Nullable;

/** Something that happened inside an {@link EngineCore}, for its driver to publish. */
public sealed interface EngineEffect {

  /**
   * A request entered the running set for the first time or again after a preemption.
   *
   * @param requestId the request
   * @param reusedTokens prompt tokens whose KV was found in the prefix cache
   */
  record Admitted(long requestId, int reusedTokens) implements EngineEffect {}

  /**
   * Tokens of one request became visible.
   *
   * @param requestId the request
   * @param tokens how many new tokens, 0 for an end without a token
   * @param finish why it ended, or null while it goes on
   */
  record Output(long requestId, int tokens, @Nullable FinishReason finish)
      implements EngineEffect {}

  /**
   * A running request lost its blocks and went back to the head of the queue.
   *
   * @param requestId the request
   */
  record Preempted(long requestId) implements EngineEffect {}

  /**
   * Consecutive blocks of one sequence became resident that were not resident before.
   *
   * @param parentHash chained hash of the block before the first one; meaningless for a root
   * @param root whether the first block begins a sequence
   * @param blockHashes chained hashes, in sequence order
   * @param tokens token ids of those blocks, concatenated
   */
  record BlocksStored(long parentHash, boolean root, long[] blockHashes, int[] tokens)
      implements EngineEffect {}

  /**
   * The last copy of a block was evicted.
   *
   * @param blockHash its chained hash
   */
  record BlockRemoved(long blockHash) implements EngineEffect {}

  /** The whole prefix cache was emptied. */
  record CacheCleared() implements EngineEffect {}

  /**
   * The answer to a {@link EngineCommand.Flush}.
   *
   * @param done false when the engine was busy and kept its cache
   */
  record FlushAnswered(boolean done) implements EngineEffect {}
}
