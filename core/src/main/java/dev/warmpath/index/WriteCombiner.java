package dev.warmpath.index;

import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes one writer of many callers without a thread of its own.
 *
 * <p>A caller that finds nobody writing writes itself, after what others have left behind. A caller
 * that finds somebody writing leaves its update in a bounded queue and goes on; the one who writes
 * looks there again before going, so that an update is late by no more than the writes before it.
 * Updates of one thread stay in order. If the queue is full the update is shed and counted: the
 * index then knows a little less, and no request waits.
 */
final class WriteCombiner {
  private static final Logger log = LoggerFactory.getLogger(WriteCombiner.class);

  private final ReentrantLock writing = new ReentrantLock();
  private final int capacity;
  private final MpscAtomicArrayQueue<Runnable> waiting;
  private final LongAdder shed = new LongAdder();

  WriteCombiner(int capacity) {
    this.capacity = capacity;
    waiting = new MpscAtomicArrayQueue<>(capacity);
  }

  /** Runs the update now or soon, and never waits. */
  void submit(Runnable update) {
    if (writing.tryLock()) {
      try {
        drain();
        run(update);
      } finally {
        writing.unlock();
      }
    } else if (!waiting.offer(update)) {
      shed.increment();
    }
    help();
  }

  /** Runs the action as the writer, after at most one queue of updates, and returns its result. */
  <T> T call(Supplier<T> action) {
    T result;
    writing.lock();
    try {
      drain();
      result = action.get();
    } finally {
      writing.unlock();
    }
    help();
    return result;
  }

  long shed() {
    return shed.sum();
  }

  boolean idle() {
    return waiting.isEmpty();
  }

  /**
   * Whoever left an update while the lock was held found it held: look again after each release.
   * But nobody is kept for more than about a queue of others' updates; if so many come, there will
   * be another caller.
   */
  private void help() {
    int left = capacity;
    while (left > 0 && !waiting.isEmpty() && writing.tryLock()) {
      try {
        left -= drain();
      } finally {
        writing.unlock();
      }
    }
  }

  /** Runs what waits now, and not what comes meanwhile. */
  private int drain() {
    int waitingNow = waiting.size();
    for (int i = 0; i < waitingNow; i++) {
      Runnable update = waiting.poll();
      if (update == null) {
        return i;
      }
      run(update);
    }
    return waitingNow;
  }

  private static void run(Runnable update) {
    try {
      update.run();
    } catch (RuntimeException e) {
      // The request of whoever happens to write must not fail for another one's update.
      log.warn("An update of the prefix index failed and is lost", e);
    }
  }
}
