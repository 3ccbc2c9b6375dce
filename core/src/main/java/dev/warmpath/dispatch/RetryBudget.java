package dev.warmpath.dispatch;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps retries from turning an outage into a storm: each request pays a fraction in, each retry
 * takes a whole one out. Lock-free.
 */
final class RetryBudget {
  private static final long UNIT = 1_000;

  private volatile long deposit;
  private volatile long cap;
  private final AtomicLong balance;

  RetryBudget(double ratio, int reserve) {
    this.deposit = Math.round(ratio * UNIT);
    this.cap = Math.max(reserve, 1) * UNIT;
    this.balance = new AtomicLong(reserve * UNIT);
  }

  /**
   * Goes by another ratio and reserve from now on; what was saved stays, within the new reserve.
   */
  void change(double ratio, int reserve) {
    deposit = Math.round(ratio * UNIT);
    cap = Math.max(reserve, 1) * UNIT;
    balance.accumulateAndGet(reserve * UNIT, Math::min);
  }

  /** A request began. */
  void deposit() {
    long now = balance.get();
    long most = cap;
    long paid = deposit;
    if (now < most && paid > 0) {
      // A lost race loses one deposit, which errs on the side of fewer retries.
      balance.compareAndSet(now, Math.min(most, now + paid));
    }
  }

  /** Whether one more retry may happen; counts it if so. */
  boolean withdraw() {
    while (true) {
      long now = balance.get();
      if (now < UNIT) {
        return false;
      }
      if (balance.compareAndSet(now, now - UNIT)) {
        return true;
      }
    }
  }

  /** Whole retries left. */
  long remaining() {
    return balance.get() / UNIT;
  }
}
