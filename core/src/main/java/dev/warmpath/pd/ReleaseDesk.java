package dev.warmpath.pd;

import dev.warmpath.transport.OutboundRequest;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Touches decode workers so that KV which nobody will fetch is freed: at most so many at a time,
 * since a burst of cancellations must not flood decode. The others wait for their turn, because
 * some engines keep what nobody asks for without end. Thread safe.
 */
final class ReleaseDesk {
  /** Touches that may wait; what comes beyond is left to the engines' own expiry. */
  static final int WAITING = 4_096;

  private record Touch(OutboundRequest request, Runnable done) {}

  private final PdCalls calls;
  private final PdCounters counters;
  private final AtomicInteger out = new AtomicInteger();
  private volatile int most;
  private final Queue<Touch> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger size = new AtomicInteger();

  /** Whose turn it is to begin touches, and who asked meanwhile. */
  private final AtomicInteger beginning = new AtomicInteger();

  ReleaseDesk(PdCalls calls, PdCounters counters, int most) {
    this.calls = calls;
    this.counters = counters;
    this.most = most;
  }

  /** Sets how many may be out at once; those that are out stay. */
  void change(int atOnce) {
    most = atOnce;
    begin();
  }

  /**
   * Touches a worker, at once or when others have been touched.
   *
   * @param done told when it is over, well or not; at once where too many wait
   */
  void touch(OutboundRequest request, Runnable done) {
    if (size.incrementAndGet() > WAITING) {
      size.decrementAndGet();
      counters.releasesDropped.increment();
      done.run();
      return;
    }
    waiting.add(new Touch(request, done));
    begin();
  }

  /** Begins as many as may be out. Whoever is at it takes what came meanwhile, so none recurses. */
  private void begin() {
    if (beginning.getAndIncrement() != 0) {
      return;
    }
    do {
      while (!waiting.isEmpty() && out.get() < most) {
        out.incrementAndGet();
        Touch next = waiting.remove(); // nobody else takes any
        size.decrementAndGet();
        counters.releases.increment();
        try {
          calls.call(next.request(), answered -> over(next));
        } catch (RuntimeException e) {
          over(next); // a bug of whoever makes calls must not keep the others waiting
        }
      }
    } while (beginning.decrementAndGet() != 0);
  }

  private void over(Touch touch) {
    out.decrementAndGet();
    begin();
    touch.done().run();
  }
}
