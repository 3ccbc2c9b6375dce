package dev.warmpath.fake.scheduler;

/**
 * Chained 64-bit block identities: a block's hash stands for everything from the start of its
 * sequence. These are the simulator's own and equal no engine's hashes.
 */
final class BlockHash {
  private static final long ROOT = 0x9E3779B97F4A7C15L;
  private static final long MULTIPLIER = 0xD6E8FEB86659FD93L;

  private BlockHash() {}

  static long root(long cacheNamespace) {
    return mix(cacheNamespace ^ ROOT);
  }

  static long next(long parent, EngineRequest request, int from, int to) {
    int[] prompt = request.prompt();
    int[] output = request.plannedOutput();
    long hash = parent;
    for (int i = from; i < to; i++) {
      int token = i < prompt.length ? prompt[i] : output[i - prompt.length];
      hash = (Long.rotateLeft(hash, 23) ^ token) * MULTIPLIER;
    }
    return mix(hash ^ (to - from));
  }

  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
