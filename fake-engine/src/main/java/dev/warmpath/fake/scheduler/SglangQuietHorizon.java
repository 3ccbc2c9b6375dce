package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * Foresees how far {@link SglangQuietPasses} would go, without changing anything. It foresees
 * nothing while a request waits that might be admitted, since that depends on a ratio that moves
 * with every pass; otherwise only the pages that passes take have to be followed.
 */
final class SglangQuietHorizon {
  private final SglangState state;
  private final SglangPass pass;
  private final SglangQuietPasses quiet;

  SglangQuietHorizon(SglangState state, SglangPass pass, SglangQuietPasses quiet) {
    this.state = state;
    this.pass = pass;
    this.quiet = quiet;
  }

  /** When the last quiet pass would end that ends in time, or an earlier one. */
  double until(double nowMs, double latestMs) {
    int limit = quiet.limit();
    if (limit <= 0 || mayAdmit()) {
      return nowMs;
    }
    List<RadixSequence> running = state.running;
    int size = running.size();
    int pageSize = state.kv.pageSize();
    int[] growing = new int[pageSize];
    long context = 0;
    for (int i = 0; i < size; i++) {
      RadixSequence sequence = running.get(i);
      growing[(sequence.pages() * pageSize - sequence.computed) % pageSize]++;
      context += sequence.length();
    }
    long pages = availablePages();
    double now = nowMs;
    for (int passes = 0; passes < limit; passes++) {
      pages -= growing[passes % pageSize];
      if (pages < 0) {
        break;
      }
      double end = now + pass.decodeMs(size, context);
      if (end > latestMs) {
        break;
      }
      now = end;
      context += size;
    }
    return now;
  }

  private boolean mayAdmit() {
    RadixSequence head = state.queue.head();
    boolean resumeOnly = state.handoffs.hasPending() || !state.arrived.isEmpty();
    return head != null
        && state.running.size() < state.options.core().maxNumSeqs()
        && (!resumeOnly || head.begun());
  }

  /** What can be taken; with a lower tier an eviction isn't quiet. */
  private long availablePages() {
    RadixPool pool = state.kv.pool();
    boolean evicts = state.options.core().offload() == null;
    return pool.free() + (evicts ? pool.evictable() : 0L);
  }
}
