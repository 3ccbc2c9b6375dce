package dev.warmpath.pd;

import dev.warmpath.transport.OutboundRequest;
import java.util.concurrent.Semaphore;

/**
 * Touches decode workers so that KV which nobody will fetch is freed: at most so many at a time,
 * since a burst of cancellations must not flood decode. Thread safe.
 */
final class ReleaseDesk {
  private final PdCalls calls;
  private final PdCounters counters;
  private final Semaphore room;

  ReleaseDesk(PdCalls calls, PdCounters counters, int most) {
    this.calls = calls;
    this.counters = counters;
    this.room = new Semaphore(most);
  }

  /**
   * Touches a worker, unless too many touches are out: then the engine's own expiry has to do.
   *
   * @param done told when it is over, well or not
   */
  void touch(OutboundRequest request, Runnable done) {
    if (!room.tryAcquire()) {
      counters.releasesDropped.increment();
      done.run();
      return;
    }
    counters.releases.increment();
    calls.call(
        request,
        answered -> {
          room.release();
          done.run();
        });
  }
}
