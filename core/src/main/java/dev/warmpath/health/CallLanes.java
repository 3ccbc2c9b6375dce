package dev.warmpath.health;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where blocking calls run: those expected to be quick, and those expected to take their time,
 * which must not keep the quick ones waiting. Thread safe.
 */
final class CallLanes implements AutoCloseable {
  private static final int THREADS_PER_LANE = 8;
  private static final int IDLE_SECONDS = 30;

  private final Executor quick;
  private final Executor patient;
  private final List<ThreadPoolExecutor> owned;

  private CallLanes(Executor quick, Executor patient, List<ThreadPoolExecutor> owned) {
    this.quick = quick;
    this.patient = patient;
    this.owned = owned;
  }

  /** Both on one executor of the caller's. */
  static CallLanes on(Executor executor) {
    return new CallLanes(executor, executor, List.of());
  }

  /** Each on up to 8 daemon threads, which end after 30 s without work. */
  static CallLanes ownThreads() {
    ThreadPoolExecutor quick = pool("warmpath-health-quick-");
    ThreadPoolExecutor patient = pool("warmpath-health-patient-");
    return new CallLanes(quick, patient, List.of(quick, patient));
  }

  private static ThreadPoolExecutor pool(String prefix) {
    AtomicInteger number = new AtomicInteger();
    // The queue is bounded by its users: each worker has at most one call in it.
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            THREADS_PER_LANE,
            THREADS_PER_LANE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, prefix + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  Executor quick() {
    return quick;
  }

  Executor patient() {
    return patient;
  }

  /** Interrupts what runs on own threads and waits for it, 2 seconds at most. */
  @Override
  public void close() {
    owned.forEach(ThreadPoolExecutor::shutdownNow);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    try {
      for (ThreadPoolExecutor pool : owned) {
        pool.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
