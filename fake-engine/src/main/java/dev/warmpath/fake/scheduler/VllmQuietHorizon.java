package dev.warmpath.fake.scheduler;

/**
 * Foresees how far {@link VllmQuietPasses} would go, without changing anything: only the number of
 * blocks in use has to be followed, since it is what the passes' times depend on.
 *
 * <p>It may stop early, where it would have to know more; it never goes too far.
 */
final class VllmQuietHorizon {
  private final VllmState state;
  private final VllmPass pass;
  private final VllmQuietPasses quiet;
  private final CoreOptions options;

  VllmQuietHorizon(VllmState state, VllmPass pass, VllmQuietPasses quiet) {
    this.state = state;
    this.pass = pass;
    this.quiet = quiet;
    this.options = state.options;
  }

  /** When the last quiet pass would end that ends in time, or an earlier one. */
  double until(double nowMs, double latestMs) {
    int limit = quiet.limit();
    if (limit == 0 || !quiet.admitsNobody()) {
      return nowMs;
    }
    int size = state.running.size();
    int blockSize = options.blockSize();
    int[] atOffset = new int[blockSize];
    long contextTokens = 0;
    for (Sequence sequence : state.running) {
      atOffset[sequence.computed % blockSize]++;
      contextTokens += sequence.length();
    }
    boolean mayAdmit = quiet.mayAdmit();
    double deadlineMs = deadlineMs();
    int active = state.pool.active();
    int unused = state.pool.unused();
    int room = state.lower == null ? state.pool.capacity() - active : unused;
    double now = nowMs;
    for (int passes = 0; passes < limit; passes++) {
      int growing = atOffset[Math.floorMod(-passes, blockSize)];
      boolean filling = atOffset[Math.floorMod(-1 - passes, blockSize)] > 0;
      if (deadlineMs <= now + SharedLink.EPSILON_MS
          || growing > room
          || (mayAdmit && filling && fillsWhatWaits(passes))) {
        break;
      }
      room -= growing;
      active += growing;
      double end = now + (0 + pass.decodeMs(size, contextTokens, active));
      if (end > latestMs) {
        break;
      }
      now = end;
      contextTokens += size;
      unused -= growing;
      if (mayAdmit && unused < 0) {
        break; // an eviction may have made the cached prefix shorter of what waits
      }
    }
    return now;
  }

  private double deadlineMs() {
    OffloadTier lower = state.lower;
    return lower == null ? Double.POSITIVE_INFINITY : lower.nextDeadlineMs();
  }

  /** Whether a block that becomes full after some passes is one of the head's. */
  private boolean fillsWhatWaits(int passes) {
    Sequence head = state.waiting.getFirst();
    int blockSize = options.blockSize();
    int headBlocks = head.length() / blockSize;
    for (Sequence sequence : state.running) {
      int computed = sequence.computed + passes + 1;
      int full = computed / blockSize;
      if (computed % blockSize == 0
          && full <= headBlocks
          && sequence.hashes.first(full)[full - 1] == head.hashes.first(full)[full - 1]) {
        return true;
      }
    }
    return false;
  }
}
