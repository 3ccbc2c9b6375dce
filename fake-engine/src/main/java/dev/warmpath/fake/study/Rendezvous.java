package dev.warmpath.fake.study;

/** Highest random weight: every client ranks the workers of a key alike. */
final class Rendezvous {
  private Rendezvous() {}

  static long weight(long key, int worker) {
    return mix(mix(key + 0x9E3779B97F4A7C15L) ^ mix((worker + 1) * 0xD1B54A32D192ED03L));
  }

  static int winner(long key, int workers) {
    int best = 0;
    long most = Long.MIN_VALUE;
    for (int worker = 0; worker < workers; worker++) {
      long weight = weight(key, worker);
      if (weight > most) {
        best = worker;
        most = weight;
      }
    }
    return best;
  }

  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
