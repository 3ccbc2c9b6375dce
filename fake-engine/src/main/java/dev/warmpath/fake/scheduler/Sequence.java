package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import java.util.ArrayList;
import java.util.List;

/**
 * One request's progress: {@code computed <= blocks * blockSize} and {@code computed <= length}.
 */
final class Sequence {
  final EngineRequest request;
  final List<Block> blocks = new ArrayList<>();

  /** Tokens generated so far; they survive a preemption. */
  int generated;

  /** Tokens whose KV is in the pool. */
  int computed;

  /** Blocks whose identity the cache knows. */
  int published;

  /** Whether the first token since the last admission is still to come. */
  boolean prefilling;

  /** Whether it was ever admitted. */
  boolean admitted;

  /** Tokens scheduled in the current pass, and what was computed before them. */
  int passTokens;

  int passPrefix;

  final BlockHashes hashes;

  Sequence(EngineRequest request, int blockSize) {
    this.request = request;
    this.hashes = new BlockHashes(request, blockSize);
  }

  int length() {
    return request.promptTokens() + generated;
  }

  int remainingOutput() {
    return request.outputTokens() - generated;
  }

  /** Forgets everything computed; the blocks must have been released. */
  void reset() {
    computed = 0;
    published = 0;
    passTokens = 0;
    passPrefix = 0;
  }
}
