package dev.warmpath.knowledge;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Work that another thread may end by an interrupt, which does not outlive it: the thread that did
 * it is left as it was. Done once; thread safe.
 */
final class Interruptible {
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Thread working; // under lock
  private boolean cancelled; // under lock
  private boolean interrupted; // under lock

  /** Does it on this thread, unless it was cancelled before. */
  void run(Runnable work) {
    if (enter()) {
      try {
        work.run();
      } finally {
        leave();
      }
    }
  }

  private boolean enter() {
    lock.lock();
    try {
      working = cancelled ? null : Thread.currentThread();
      return !cancelled;
    } finally {
      lock.unlock();
    }
  }

  /** From here on nobody interrupts; an interrupt that was a cancellation's is taken back. */
  private void leave() {
    lock.lock();
    try {
      working = null;
      if (interrupted) {
        boolean unused = Thread.interrupted();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends it, or keeps it from being begun. */
  void cancel() {
    lock.lock();
    try {
      cancelled = true;
      Thread its = working;
      if (its != null && !interrupted) {
        interrupted = true;
        its.interrupt();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean cancelled() {
    lock.lock();
    try {
      return cancelled;
    } finally {
      lock.unlock();
    }
  }
}
