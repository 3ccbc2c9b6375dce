package dev.warmpath.policy;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Compares times to first token of conversations that affinity places with those of a control group
 * that it does not, and says how many conversations affinity should place: half as many each time
 * it is measurably slower, twice as many each time it is not.
 *
 * <p>Logarithms are compared, since times to first token spread by factors; two groups differ when
 * their means do by more than two standard errors beyond a margin (Welch's test). Every change
 * begins new samples. Thread safe; the lock guards arithmetic only.
 */
final class AffinityTrial {
  /** Samples that each group needs before it is judged. */
  static final int ENOUGH = 50;

  /** Samples after which a trial that shows nothing begins anew. */
  static final int MOST = 1_000;

  /** The least time between two judgements. */
  static final long INTERVAL_NANOS = 30_000_000_000L;

  /** The share of conversations that affinity keeps whatever it costs, so that it can recover. */
  static final double LEAST_WEIGHT = 1.0 / 16;

  /** How much slower affinity may be: less is not worth the cache that moving loses. */
  private static final double MARGIN = Math.log(1.1);

  private static final double ERRORS = 2;

  private final ReentrantLock lock = new ReentrantLock();
  private final Group control = new Group();
  private final Group placed = new Group();
  private boolean begun;
  private long judgedNanos;
  private volatile Verdict verdict = new Verdict(1, Double.NaN);

  /**
   * What it has come to.
   *
   * @param weight the share of conversations that affinity is to place
   * @param ratio time to first token with affinity over that without, when last judged; NaN before
   */
  record Verdict(double weight, double ratio) {}

  /** Means and variances of logarithms (Welford 1962). */
  private static final class Group {
    private int count;
    private double mean;
    private double squares;

    void add(double value) {
      count++;
      double off = value - mean;
      mean += off / count;
      squares += off * (value - mean);
    }

    double error() {
      return squares / (count - 1) / count;
    }

    void clear() {
      count = 0;
      mean = 0;
      squares = 0;
    }
  }

  Verdict verdict() {
    return verdict;
  }

  /** Takes a time to first token, of a conversation of the control group or one that was placed. */
  void observe(boolean controlled, double millis, long nowNanos) {
    if (!(millis > 0)) {
      return;
    }
    lock.lock();
    try {
      if (!begun) {
        begun = true;
        judgedNanos = nowNanos;
      }
      (controlled ? control : placed).add(Math.log(millis));
      if (control.count >= ENOUGH
          && placed.count >= ENOUGH
          && nowNanos - judgedNanos >= INTERVAL_NANOS) {
        judge(nowNanos);
      }
    } finally {
      lock.unlock();
    }
  }

  private void judge(long nowNanos) {
    judgedNanos = nowNanos;
    double slower = placed.mean - control.mean;
    double doubt = ERRORS * Math.sqrt(placed.error() + control.error());
    double weight = verdict.weight();
    double ratio = Math.exp(slower);
    if (slower - doubt > MARGIN) {
      settle(new Verdict(Math.max(LEAST_WEIGHT, weight / 2), ratio));
    } else if (slower + doubt < MARGIN) {
      settle(new Verdict(Math.min(1, weight * 2), ratio));
    } else if (control.count + placed.count > MOST) {
      settle(new Verdict(weight, ratio));
    }
  }

  private void settle(Verdict next) {
    verdict = next;
    control.clear();
    placed.clear();
  }
}
