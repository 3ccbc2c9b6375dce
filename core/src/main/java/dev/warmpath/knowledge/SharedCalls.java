package dev.warmpath.knowledge;

import dev.warmpath.worker.Scheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls that whoever needs the same at the same moment shares. A call runs on a thread of its own,
 * so that it belongs to nobody: who waits for it may go at any time, for it was cancelled or its
 * time is up, and the call goes on for the others. When the last one goes, it is interrupted. What
 * came of a call is for those who waited; nothing is kept of it. Thread safe.
 *
 * @param <K> what makes calls the same
 * @param <R> what comes of them
 */
final class SharedCalls<K, R> {
  private final Scheduler time;
  private final Executor threads;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<K, Call> running = new HashMap<>(); // under lock
  private final LongAdder joins = new LongAdder();

  /**
   * Begins with no call.
   *
   * @param time what waits
   * @param threads where calls run, which block
   */
  SharedCalls(Scheduler time, Executor threads) {
    this.time = time;
    this.threads = threads;
  }

  /** How a wait ended. */
  enum End {
    /** The call ended, one way or another. */
    ENDED,
    /** The time was up. */
    LATE,
    /** The time was up, and since nobody else waited the call was given up. */
    LATE_AND_LAST,
    /** The thread was interrupted, which it still is. */
    INTERRUPTED,
    /** No thread was free for the call. */
    REFUSED
  }

  /**
   * What a wait came to.
   *
   * @param result what the call returned; null where it didn't end, was given up, or threw
   * @param joined whether another had begun it
   */
  record Outcome<R>(End end, @Nullable R result, boolean joined) {}

  /** A call under way. */
  private final class Call implements Runnable {
    private final K key;
    private final Supplier<R> work;
    private final Interruptible thread = new Interruptible();
    private final CountDownLatch ended = new CountDownLatch(1);
    private int waiting; // under lock
    private volatile @Nullable R result;

    Call(K key, Supplier<R> work) {
      this.key = key;
      this.work = work;
    }

    @Override
    public void run() {
      try {
        thread.run(() -> result = work.get());
      } finally {
        forget(this);
        ended.countDown();
      }
    }
  }

  /**
   * Waits for a call, which is begun unless it is under way.
   *
   * @param held asked before a call is begun, when no other one can end: what makes it needless, or
   *     null
   * @param work the call, which ends by itself in bounded time
   * @param patience how long to wait for it
   */
  Outcome<R> await(K key, Supplier<@Nullable R> held, Supplier<R> work, Duration patience) {
    Call call;
    boolean joined;
    lock.lock();
    try {
      Call other = running.get(key);
      joined = other != null;
      if (other == null) {
        R known = held.get();
        if (known != null) {
          joins.increment();
          return new Outcome<>(End.ENDED, known, true);
        }
        other = new Call(key, work);
        running.put(key, other);
      }
      call = other;
      call.waiting++;
    } finally {
      lock.unlock();
    }
    if (joined) {
      joins.increment();
    } else {
      try {
        threads.execute(call);
      } catch (RejectedExecutionException e) {
        forget(call);
        call.ended.countDown();
        return new Outcome<>(End.REFUSED, null, false);
      }
    }
    return outcome(call, patience, joined);
  }

  private Outcome<R> outcome(Call call, Duration patience, boolean joined) {
    End end;
    try {
      end = time.await(call.ended, patience.toNanos()) ? End.ENDED : End.LATE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      end = End.INTERRUPTED;
    }
    boolean last = leave(call);
    if (end == End.LATE && last) {
      end = End.LATE_AND_LAST;
    }
    return new Outcome<>(end, end == End.ENDED ? call.result : null, joined);
  }

  /** One who waited goes; true where nobody is left and the call was still under way. */
  private boolean leave(Call call) {
    lock.lock();
    try {
      if (--call.waiting > 0 || call.ended.getCount() == 0) {
        return false;
      }
      boolean unused = running.remove(call.key, call);
    } finally {
      lock.unlock();
    }
    call.thread.cancel();
    return true;
  }

  private void forget(Call call) {
    lock.lock();
    try {
      boolean unused = running.remove(call.key, call);
    } finally {
      lock.unlock();
    }
  }

  /** Whether there is a call to join. */
  boolean running(K key) {
    lock.lock();
    try {
      return running.containsKey(key);
    } finally {
      lock.unlock();
    }
  }

  /** How many needed no call of their own, those that still wait for another's among them. */
  long joined() {
    return joins.sum();
  }

  /** Lets nobody join these calls any more: what they do counts for those who wait already. */
  void part(Predicate<K> keys) {
    lock.lock();
    try {
      boolean unused = running.keySet().removeIf(keys);
    } finally {
      lock.unlock();
    }
  }
}
