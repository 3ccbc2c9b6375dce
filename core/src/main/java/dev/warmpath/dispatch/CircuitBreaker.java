package dev.warmpath.dispatch;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One worker's circuit breaker: closed, open for a while, then half open for a limited number of
 * probes. Outcomes count in a window that slides in tenths. Thread safe; its lock guards arithmetic
 * only.
 */
final class CircuitBreaker {
  private static final int BUCKETS = 10;

  /** Where the breaker stands. */
  enum State {
    CLOSED,
    OPEN,
    HALF_OPEN
  }

  private BreakerSettings settings;
  private long bucketNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final long[] bucketStamp = new long[BUCKETS];
  private final int[] failures = new int[BUCKETS];
  private final int[] total = new int[BUCKETS];
  private State state = State.CLOSED;
  private long openUntilNanos;
  private int timesOpened;
  private int probing;
  private int generation;

  CircuitBreaker(BreakerSettings settings) {
    this.settings = settings;
    this.bucketNanos = Math.max(1, settings.window().toNanos() / BUCKETS);
    java.util.Arrays.fill(bucketStamp, Long.MIN_VALUE);
  }

  /** Goes by other settings from now on; with another window the outcomes count anew. */
  void change(BreakerSettings next) {
    lock.lock();
    try {
      settings = next;
      long nanos = Math.max(1, next.window().toNanos() / BUCKETS);
      if (nanos != bucketNanos) {
        bucketNanos = nanos;
        java.util.Arrays.fill(bucketStamp, Long.MIN_VALUE);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Where it stands at {@code now}: an open one whose time is up is half open. */
  State state(long now) {
    lock.lock();
    try {
      return stateAt(now);
    } finally {
      lock.unlock();
    }
  }

  /** When an open breaker becomes half open; meaningful while open. */
  long openUntilNanos() {
    lock.lock();
    try {
      return openUntilNanos;
    } finally {
      lock.unlock();
    }
  }

  private State stateAt(long now) {
    if (state == State.OPEN && now - openUntilNanos >= 0) {
      state = State.HALF_OPEN;
      probing = 0;
      generation++;
    }
    return state;
  }

  /** Asks to send one request: null when open, or half open with every probe out. */
  @Nullable Permit tryAcquire(long now) {
    lock.lock();
    try {
      return switch (stateAt(now)) {
        case CLOSED -> new Permit(generation, false);
        case OPEN -> null;
        case HALF_OPEN -> {
          if (probing >= settings.halfOpenProbes()) {
            yield null;
          }
          probing++;
          yield new Permit(generation, true);
        }
      };
    } finally {
      lock.unlock();
    }
  }

  /**
   * A permit beyond the limits, for a worker that is the only one left; its outcome counts all the
   * same.
   */
  Permit force(long now) {
    lock.lock();
    try {
      stateAt(now);
      return new Permit(generation, false);
    } finally {
      lock.unlock();
    }
  }

  private void record(Permit permit, boolean failed, boolean neutral, long now) {
    lock.lock();
    try {
      State at = stateAt(now);
      if (permit.generation != generation) {
        return; // from before the last change of state: it says nothing of the worker as it is now
      }
      if (permit.probe) {
        probing--;
      }
      if (neutral) {
        return;
      }
      if (at == State.HALF_OPEN) {
        if (failed) {
          open(now);
        } else {
          close();
        }
        return;
      }
      if (at == State.CLOSED) {
        count(failed, now);
      }
    } finally {
      lock.unlock();
    }
  }

  private void count(boolean failed, long now) {
    long stamp = Math.floorDiv(now, bucketNanos);
    int bucket = (int) Math.floorMod(stamp, (long) BUCKETS);
    if (bucketStamp[bucket] != stamp) {
      bucketStamp[bucket] = stamp;
      failures[bucket] = 0;
      total[bucket] = 0;
    }
    total[bucket]++;
    if (!failed) {
      return;
    }
    failures[bucket]++;
    int failedInWindow = 0;
    int inWindow = 0;
    for (int i = 0; i < BUCKETS; i++) {
      if (bucketStamp[i] > stamp - BUCKETS && bucketStamp[i] <= stamp) {
        failedInWindow += failures[i];
        inWindow += total[i];
      }
    }
    if (failedInWindow >= settings.minimumFailures()
        && failedInWindow >= settings.failureRate() * inWindow) {
      open(now);
    }
  }

  private void open(long now) {
    long wait = settings.openFor().toNanos();
    for (int i = 0; i < timesOpened && wait < settings.maxOpenFor().toNanos(); i++) {
      wait *= 2;
    }
    openUntilNanos = now + Math.min(wait, settings.maxOpenFor().toNanos());
    timesOpened++;
    state = State.OPEN;
    generation++;
  }

  private void close() {
    state = State.CLOSED;
    timesOpened = 0;
    generation++;
    java.util.Arrays.fill(bucketStamp, Long.MIN_VALUE);
  }

  /**
   * Leave to send one request. Exactly one outcome counts; a probe's slot comes back with any of
   * them.
   */
  final class Permit {
    private final int generation;
    private final boolean probe;
    private boolean used;

    private Permit(int generation, boolean probe) {
      this.generation = generation;
      this.probe = probe;
    }

    /** The worker did its part. */
    void succeeded(long now) {
      once(false, false, now);
    }

    /** The worker failed. */
    void failed(long now) {
      once(true, false, now);
    }

    /** Nothing was learnt: cancelled, busy, or the client's own error. */
    void neutral(long now) {
      once(false, true, now);
    }

    private void once(boolean failed, boolean neutral, long now) {
      lock.lock();
      try {
        if (used) {
          return;
        }
        used = true;
        record(this, failed, neutral, now);
      } finally {
        lock.unlock();
      }
    }
  }
}
