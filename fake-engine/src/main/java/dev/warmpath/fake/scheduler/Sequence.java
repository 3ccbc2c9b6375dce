package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request's progress: {@code computed <= blocks * blockSize} and {@code computed <= length}.
 */
final class Sequence {

  /** Who has it. */
  enum Place {
    /** A queue of requests that wait for a place in the running set. */
    QUEUED,
    /** The running set. */
    RUNNING,
    /** A transfer that brings its blocks back from a lower tier. */
    SWAPPING_IN,
    /** A handoff, as the source of a transfer. */
    SOURCE,
    /** A handoff, as a destination that isn't active yet. */
    DESTINATION
  }

  final EngineRequest request;
  final BlockHashes hashes;
  final List<Block> blocks = new ArrayList<>();

  /** What most passes say about it, made once. */
  final EngineEffect.Output oneToken;

  Place place = Place.QUEUED;

  /** Tokens it may generate. */
  final int maxOutput;

  /** Tokens generated so far; they survive a preemption. */
  int generated;

  /** Tokens whose KV is in the pool. */
  int computed;

  /** Blocks whose identity the cache knows. */
  int published;

  /** Whether the first token since the last admission is still to come. */
  boolean prefilling;

  /** Whether it lost its blocks and waits to be admitted again. */
  boolean preempted;

  /** Whether it was ever admitted. */
  boolean admitted;

  /** Whether it counts as a decode request while it is queued. */
  boolean queuedAsDecode;

  /** Tokens scheduled in the current pass, and what was computed before them. */
  int passTokens;

  int passPrefix;

  /** Drafted tokens that have room in the current pass. */
  int drafts;

  /** Blocks of a destination's prompt that were found in the cache. */
  int cachedBlocks;

  /** The copy to a lower tier that has to end before it can get blocks. */
  TierTransfers.@Nullable Move waitsFor;

  /** The transfer that brings its blocks back. */
  OffloadTier.@Nullable SwapIn swapIn;

  Sequence(EngineRequest request, int blockSize, int maxOutput) {
    this.request = request;
    this.hashes = new BlockHashes(request, blockSize);
    this.maxOutput = maxOutput;
    this.oneToken = new EngineEffect.Output(request.id(), 1, null);
  }

  long id() {
    return request.id();
  }

  int length() {
    return request.promptTokens() + generated;
  }

  int remainingOutput() {
    return maxOutput - generated;
  }

  /** Whether everything it has so far is computed, so that it emits a token. */
  boolean isComputed() {
    return computed == length();
  }

  /** Whether a copy to a lower tier keeps it from getting blocks. */
  boolean isBlocked() {
    if (waitsFor != null && waitsFor.done()) {
      waitsFor = null;
    }
    return waitsFor != null;
  }

  /** Forgets everything computed; the blocks must have been released. */
  void reset() {
    computed = 0;
    published = 0;
    passTokens = 0;
    passPrefix = 0;
    drafts = 0;
  }
}
