package dev.warmpath.grpc;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A thread that runs what is due at once, and the rest when a test says so. */
final class ManualThread extends ScheduledThreadPoolExecutor {
  private final ConcurrentLinkedQueue<Later> later = new ConcurrentLinkedQueue<>();

  /** What was to run after a while. */
  record Later(long millis, Runnable task, ScheduledFuture<?> handle) {}

  ManualThread() {
    super(1, new ThreadPoolExecutor.DiscardPolicy());
    setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    if (delay == 0) {
      return super.schedule(task, 0, unit);
    }
    ScheduledFuture<?> handle = super.schedule(task, 1, TimeUnit.DAYS);
    later.add(new Later(unit.toMillis(delay), task, handle));
    return handle;
  }

  /** How many tasks wait. */
  int waiting() {
    later.removeIf(next -> next.handle().isCancelled());
    return later.size();
  }

  /** Runs the one of the tasks that waits for the given time, or for up to it. */
  long runWithin(long leastMillis, long mostMillis) {
    for (Later next : later) {
      if (next.millis() >= leastMillis && next.millis() <= mostMillis && later.remove(next)) {
        execute(next.task());
        return next.millis();
      }
    }
    throw new AssertionError("no task of " + leastMillis + " to " + mostMillis + " ms: " + later);
  }
}
