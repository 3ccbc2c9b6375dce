package dev.warmpath.grpc.umbp;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Leaves a master alone that fails: it opens after failures in a row, and while it is open one
 * probe after another, with growing pauses, finds out whether the master is back. Pauses are drawn
 * between half and all of their length, so that many clients don't come back at once. Thread safe;
 * its lock guards arithmetic only.
 */
final class MasterBreaker {
  /** What a request may do. */
  enum Leave {
    /** Ask. */
    ASK,
    /** Do without, and send a probe that nobody waits for. */
    PROBE,
    /** Do without. */
    NONE
  }

  private static final int FAILURES = 3;
  private static final long FIRST_PAUSE = Duration.ofMillis(250).toNanos();
  private static final long LONGEST_PAUSE = Duration.ofSeconds(5).toNanos();

  private final ReentrantLock lock = new ReentrantLock();
  private final SplittableRandom random;
  private int failures;
  private boolean open;
  private boolean probing;
  private long pause = FIRST_PAUSE;
  private long probeAtNanos;

  MasterBreaker(long seed) {
    this.random = new SplittableRandom(seed);
  }

  Leave leave(long now) {
    lock.lock();
    try {
      if (!open) {
        return Leave.ASK;
      }
      if (probing || now - probeAtNanos < 0) {
        return Leave.NONE;
      }
      probing = true;
      return Leave.PROBE;
    } finally {
      lock.unlock();
    }
  }

  /** The master answered. */
  void succeeded() {
    lock.lock();
    try {
      failures = 0;
      open = false;
      probing = false;
      pause = FIRST_PAUSE;
    } finally {
      lock.unlock();
    }
  }

  /** The master failed a request. One that was asked before it was opened changes nothing. */
  void failed(long now) {
    lock.lock();
    try {
      if (!open && ++failures >= FAILURES) {
        open(now);
      }
    } finally {
      lock.unlock();
    }
  }

  /** A probe failed. */
  void probeFailed(long now) {
    lock.lock();
    try {
      pause = Math.min(LONGEST_PAUSE, 2 * pause);
      open(now);
    } finally {
      lock.unlock();
    }
  }

  private void open(long now) {
    open = true;
    probing = false;
    probeAtNanos = now + random.nextLong(pause / 2, pause + 1);
  }

  boolean isOpen() {
    lock.lock();
    try {
      return open;
    } finally {
      lock.unlock();
    }
  }
}
