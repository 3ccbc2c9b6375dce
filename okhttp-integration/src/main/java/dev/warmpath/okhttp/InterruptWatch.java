package dev.warmpath.okhttp;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Makes an interrupt end a blocking exchange: a platform thread that waits in a socket does not
 * notice one by itself. A daemon thread looks at the threads that wait every {@value
 * #PERIOD_MILLIS} ms, and sleeps while there are none.
 */
final class InterruptWatch implements AutoCloseable {
  private static final long PERIOD_MILLIS = 10;

  /** Something that a thread may wait for. */
  interface Waiting {
    /** Ends the wait. Never blocks. */
    void cancel();
  }

  /** What waits, and the thread it waits on. */
  private final Map<Waiting, Thread> waiting = new ConcurrentHashMap<>();

  private final AtomicBoolean asleep = new AtomicBoolean();
  private final Object startLock = new Object();
  private volatile @Nullable Thread watcher;
  private volatile boolean closed;

  /** The calling thread begins to wait for {@code exchange}; to be followed by {@link #done}. */
  void waitingFor(Waiting exchange) {
    waiting.put(exchange, Thread.currentThread());
    Thread running = watcher;
    if (running == null) {
      start();
    } else if (asleep.get() && asleep.compareAndSet(true, false)) {
      LockSupport.unpark(running);
    }
  }

  /** The wait is over. */
  void done(Waiting exchange) {
    waiting.remove(exchange);
  }

  private void start() {
    synchronized (startLock) {
      if (watcher == null && !closed) {
        Thread thread = new Thread(this::watch, "warmpath-okhttp-interrupts");
        thread.setDaemon(true);
        watcher = thread;
        thread.start();
      }
    }
  }

  private void watch() {
    while (!closed) {
      if (waiting.isEmpty()) {
        asleep.set(true);
        // Whoever came between the look and the flag has seen no flag, so look once more.
        if (waiting.isEmpty() && !closed) {
          LockSupport.park(this);
        }
        asleep.set(false);
        continue;
      }
      Iterator<Map.Entry<Waiting, Thread>> all = waiting.entrySet().iterator();
      while (all.hasNext()) {
        Map.Entry<Waiting, Thread> one = all.next();
        if (one.getValue().isInterrupted()) {
          all.remove();
          one.getKey().cancel();
        }
      }
      LockSupport.parkNanos(this, PERIOD_MILLIS * 1_000_000);
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(watcher);
  }
}
