package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import java.util.ArrayList;
import java.util.Arrays;
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

  private final int blockSize;
  private long[] hashes;
  private int hashed;

  Sequence(EngineRequest request, int blockSize) {
    this.request = request;
    this.blockSize = blockSize;
    this.hashes = new long[Math.max(1, request.prompt().length / blockSize)];
  }

  int length() {
    return request.prompt().length + generated;
  }

  int remainingOutput() {
    return request.plannedOutput().length - generated;
  }

  /** Chained hashes of at least the first {@code count} blocks, which must be full. */
  long[] hashes(int count) {
    if (count > hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.max(count, hashes.length * 2));
    }
    while (hashed < count) {
      long parent = hashed == 0 ? BlockHash.root(request.cacheNamespace()) : hashes[hashed - 1];
      int from = hashed * blockSize;
      hashes[hashed++] = BlockHash.next(parent, request, from, from + blockSize);
    }
    return hashes;
  }

  /** Copies the token ids of some blocks. */
  int[] tokens(int fromBlock, int toBlock) {
    int from = fromBlock * blockSize;
    int[] copy = new int[(toBlock - fromBlock) * blockSize];
    int[] prompt = request.prompt();
    for (int i = 0; i < copy.length; i++) {
      int at = from + i;
      copy[i] = at < prompt.length ? prompt[at] : request.plannedOutput()[at - prompt.length];
    }
    return copy;
  }

  /** Forgets everything computed; the blocks must have been released. */
  void reset() {
    computed = 0;
    published = 0;
    passTokens = 0;
    passPrefix = 0;
  }
}
