package dev.warmpath.worker;

import java.time.Duration;
import java.util.Comparator;
import java.util.TreeSet;

/**
 * Time that moves when a test says so. Tasks run on the thread that moves it; other threads may
 * schedule.
 */
public final class VirtualScheduler implements Scheduler {
  private record Entry(long dueNanos, long number, Runnable task) {}

  private final TreeSet<Entry> entries =
      new TreeSet<>(Comparator.comparingLong(Entry::dueNanos).thenComparingLong(Entry::number));
  private final long origin;
  private long now;
  private long scheduled;
  private boolean closed;

  /** Starts shortly before the clock overflows: differences must not mind. */
  public VirtualScheduler() {
    origin = Long.MAX_VALUE - Duration.ofMinutes(1).toNanos();
  }

  @Override
  public synchronized long nanoTime() {
    return origin + now;
  }

  @Override
  public synchronized Task schedule(Duration delay, Runnable task) {
    if (closed) {
      return () -> {};
    }
    Entry entry = new Entry(now + Math.max(0, delay.toNanos()), scheduled++, task);
    entries.add(entry);
    return () -> cancel(entry);
  }

  private synchronized void cancel(Entry entry) {
    entries.remove(entry);
  }

  /** Runs what is due now, and what that makes due now. */
  public void run() {
    advance(Duration.ZERO);
  }

  /** Moves time on, running everything on the way at its own time. */
  public void advance(Duration by) {
    long end;
    synchronized (this) {
      end = now + by.toNanos();
    }
    while (true) {
      Entry next;
      synchronized (this) {
        next = entries.isEmpty() ? null : entries.first();
        if (next == null || next.dueNanos() > end) {
          now = end;
          return;
        }
        entries.pollFirst();
        now = Math.max(now, next.dueNanos());
      }
      next.task().run();
    }
  }

  /** How many tasks wait. */
  public synchronized int pending() {
    return entries.size();
  }

  @Override
  public synchronized void close() {
    closed = true;
    entries.clear();
  }
}
