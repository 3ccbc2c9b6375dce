package dev.warmpath.dispatch;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Lets time pass for a request: between its attempts, and while it waits for admission. */
@FunctionalInterface
public interface Pauser {
  /** Waits in real time. */
  Pauser REAL = (nanos, until) -> until.await(nanos, TimeUnit.NANOSECONDS);

  /**
   * Blocks the calling thread for {@code nanos}, or until {@code until} is counted down.
   *
   * @return whether it was counted down
   * @throws InterruptedException when the thread is interrupted, which cancels the request
   */
  boolean pause(long nanos, CountDownLatch until) throws InterruptedException;
}
