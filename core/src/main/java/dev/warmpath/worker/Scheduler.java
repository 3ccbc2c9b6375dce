package dev.warmpath.worker;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A clock and a way to do things later, in one, so that a test can put its own time under
 * everything that waits.
 *
 * <p>Tasks run one at a time, in the order of their due times (equal ones in the order they were
 * scheduled), never on the scheduling thread's stack: state touched by tasks only needs no lock.
 * What a task throws is logged and goes no further. Scheduling is thread safe.
 */
public interface Scheduler extends AutoCloseable {
  /** The time, in nanoseconds from an arbitrary origin; only differences mean something. */
  long nanoTime();

  /**
   * Runs a task once, after a delay. After {@link #close()} it is dropped.
   *
   * @param delay how long to wait; zero or less is as soon as possible
   */
  Task schedule(Duration delay, Runnable task);

  /** Runs a task as soon as possible. */
  default void execute(Runnable task) {
    schedule(Duration.ZERO, task);
  }

  /**
   * Blocks the calling thread for a time, or until a latch is counted down.
   *
   * @return whether the latch was counted down
   * @throws InterruptedException when the thread is interrupted
   */
  default boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
    return latch.await(nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Drops what has not run, interrupts what runs and waits for it, 2 seconds at most. Idempotent.
   */
  @Override
  void close();

  /** Something that is to be done later. */
  interface Task {
    /** Drops it unless it has begun. */
    void cancel();
  }

  /**
   * A scheduler on one daemon thread of its own.
   *
   * @param threadName the thread's name
   */
  static Scheduler onThread(String threadName) {
    return new ThreadScheduler(threadName);
  }
}
