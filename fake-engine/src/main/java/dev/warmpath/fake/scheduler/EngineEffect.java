package dev.warmpath.fake.scheduler;

import org.jspecify.annotations.Nullable;

/** Something that happened inside an {@link EngineCore}, for its driver to publish. */
public sealed interface EngineEffect {

  /** What an effect is about; a publisher orders the effects of a pass by it. */
  enum Kind {
    /** Requests entering and leaving the running set. */
    ADMISSION,
    /** Cached blocks. */
    KV,
    /** Tokens and ends of requests. */
    OUTPUT,
    /** Handoffs. */
    LIFECYCLE,
    /** The answer to a command. */
    ANSWER
  }

  /**
   * Returns what the effect is about.
   *
   * @return its kind
   */
  Kind kind();

  /**
   * A request entered the running set for the first time or again after a preemption.
   *
   * @param requestId the request
   * @param reusedTokens prompt tokens whose KV was found in the prefix cache
   */
  record Admitted(long requestId, int reusedTokens) implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.ADMISSION;
    }
  }

  /**
   * Tokens of one request became visible.
   *
   * @param requestId the request
   * @param tokens how many new tokens, 0 for an end without a token
   * @param finish why it ended, or null while it goes on
   */
  record Output(long requestId, int tokens, @Nullable FinishReason finish) implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.OUTPUT;
    }
  }

  /**
   * A running request lost its blocks and went back to the head of the queue.
   *
   * @param requestId the request
   */
  record Preempted(long requestId) implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.ADMISSION;
    }
  }

  /**
   * Consecutive blocks of one sequence became resident in a tier that did not have them before.
   *
   * @param tier where they lie
   * @param parentHash chained hash of the block before the first one; meaningless for a root
   * @param root whether the first block begins a sequence
   * @param blockHashes chained hashes, in sequence order
   * @param tokens token ids of those blocks, concatenated; empty if the request came without
   */
  record BlocksStored(
      StorageTier tier, long parentHash, boolean root, long[] blockHashes, int[] tokens)
      implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.KV;
    }
  }

  /**
   * The last copy of a block in a tier was evicted.
   *
   * @param tier where it lay
   * @param blockHash its chained hash
   */
  record BlockRemoved(StorageTier tier, long blockHash) implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.KV;
    }
  }

  /** The whole prefix cache was emptied, in every tier. */
  record CacheCleared() implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.KV;
    }
  }

  /**
   * A source's prompt is computed and its KV is held for the transfer.
   *
   * @param handoffId the handoff
   * @param requestId the request, whose place in the running set is free again
   * @param transferMs modelled time to move the KV of the whole prompt, in milliseconds
   */
  record SourceHeld(long handoffId, long requestId, double transferMs) implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.LIFECYCLE;
    }
  }

  /**
   * A destination has blocks for the prompt.
   *
   * @param handoffId the handoff
   * @param requestId the request
   * @param transferableTokens room of the blocks that were not found in the destination's cache
   */
  record DestinationReserved(long handoffId, long requestId, int transferableTokens)
      implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.LIFECYCLE;
    }
  }

  /**
   * The answer to a {@link EngineCommand.Flush}.
   *
   * @param done false when the engine was busy and kept its cache
   */
  record FlushAnswered(boolean done) implements EngineEffect {
    @Override
    public Kind kind() {
      return Kind.ANSWER;
    }
  }
}
