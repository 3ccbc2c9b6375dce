package dev.warmpath.fake.scheduler;

import java.util.Arrays;

/**
 * Chained 64-bit identities of one sequence's full blocks, computed when first asked for: a block's
 * hash stands for everything from the start of its sequence. These are the simulator's own and
 * equal no engine's hashes.
 */
final class BlockHashes {
  private static final long ROOT = 0x9E3779B97F4A7C15L;
  private static final long MULTIPLIER = 0xD6E8FEB86659FD93L;
  private static final int[] NO_TOKENS = {};
  private static final long[] NONE = {};

  private final EngineRequest request;
  private final int blockSize;
  private long[] hashes;
  private int hashed;

  BlockHashes(EngineRequest request, int blockSize) {
    this.request = request;
    this.blockSize = blockSize;
    if (request.content() instanceof BlockSource.Chained chained) {
      hashes = chained.hashes();
      hashed = hashes.length;
    } else {
      hashes = NONE;
    }
  }

  /** Chained hashes of at least the first {@code count} blocks, which must be full. */
  long[] first(int count) {
    if (count > hashed) {
      extend(count);
    }
    return hashes;
  }

  private void extend(int count) {
    if (count > hashes.length) {
      int prompt = request.promptTokens() / blockSize;
      hashes = Arrays.copyOf(hashes, Math.max(count, Math.max(prompt, hashes.length + 4)));
    }
    while (hashed < count) {
      long parent = hashed == 0 ? mix(request.cacheNamespace() ^ ROOT) : hashes[hashed - 1];
      int from = hashed * blockSize;
      hashes[hashed++] = next(parent, from, from + blockSize);
    }
  }

  private long next(long parent, int from, int to) {
    long hash = parent;
    if (request.content() instanceof BlockSource.Tokens tokens) {
      int[] prompt = tokens.prompt();
      int[] output = tokens.output();
      for (int i = from; i < to; i++) {
        hash = step(hash, i < prompt.length ? prompt[i] : output[i - prompt.length]);
      }
      return mix(hash ^ (to - from));
    }
    int at = from;
    if (request.content() instanceof BlockSource.Stretches stretches) {
      long[] ids = stretches.ids();
      int perId = stretches.tokensPerId();
      while (at < to && at / perId < ids.length) {
        int end = (int) Math.min(to, (long) (at / perId + 1) * perId);
        hash = step(step(hash, ids[at / perId]), end - at);
        at = end;
      }
    }
    return mix(at < to ? step(step(hash, mix(request.id())), from) : hash);
  }

  private static long step(long hash, long value) {
    return (Long.rotateLeft(hash, 23) ^ value) * MULTIPLIER;
  }

  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Copies the token ids of some blocks; empty for a request that was given without token ids. */
  int[] tokens(int fromBlock, int toBlock) {
    if (!(request.content() instanceof BlockSource.Tokens source)) {
      return NO_TOKENS;
    }
    int from = fromBlock * blockSize;
    int[] copy = new int[(toBlock - fromBlock) * blockSize];
    int[] prompt = source.prompt();
    for (int i = 0; i < copy.length; i++) {
      int at = from + i;
      copy[i] = at < prompt.length ? prompt[at] : source.output()[at - prompt.length];
    }
    return copy;
  }
}
