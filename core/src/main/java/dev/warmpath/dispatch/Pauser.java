package dev.warmpath.dispatch;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Lets time pass between the attempts of a request. */
@FunctionalInterface
public interface Pauser {
  /** Waits in real time. */
  Pauser REAL =
      (nanos, cancelled) -> {
        boolean unused = cancelled.await(nanos, TimeUnit.NANOSECONDS);
      };

  /**
   * Blocks the calling thread for {@code nanos}, or until {@code cancelled} is counted down.
   *
   * @throws InterruptedException when the thread is interrupted, which cancels the request
   */
  void pause(long nanos, CountDownLatch cancelled) throws InterruptedException;
}
