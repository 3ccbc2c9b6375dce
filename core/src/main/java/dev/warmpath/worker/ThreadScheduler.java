package dev.warmpath.worker;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Real time on one daemon thread. */
final class ThreadScheduler implements Scheduler {
  private static final Logger log = LoggerFactory.getLogger(Scheduler.class);
  private static final Task DROPPED = () -> {};

  private final ScheduledThreadPoolExecutor executor;
  private volatile @Nullable Thread thread;

  ThreadScheduler(String threadName) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            runnable -> {
              Thread made = new Thread(runnable, threadName);
              made.setDaemon(true);
              thread = made;
              return made;
            });
    executor.setRemoveOnCancelPolicy(true);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Task schedule(Duration delay, Runnable task) {
    try {
      Future<?> future = executor.schedule(() -> run(task), delay.toNanos(), TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    } catch (RejectedExecutionException closed) {
      return DROPPED;
    }
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      log.warn("A background task failed", e);
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
    if (Thread.currentThread() == thread) {
      return;
    }
    try {
      executor.awaitTermination(2, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
