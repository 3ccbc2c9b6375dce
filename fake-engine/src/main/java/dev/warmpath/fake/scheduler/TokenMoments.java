package dev.warmpath.fake.scheduler;

/**
 * Count, sum and population variance of token counts that come, grow and go.
 *
 * <p>The squares are kept as whole numbers. That makes the variance independent of the order of
 * changes, which a floating-point recurrence is not, and allows to take numbers out again.
 */
final class TokenMoments {
  private int count;
  private long sum;
  private long squares;

  void add(long tokens) {
    count++;
    sum += tokens;
    squares += tokens * tokens;
  }

  void remove(long tokens) {
    count--;
    sum -= tokens;
    squares -= tokens * tokens;
  }

  /** Adds the same number to every member. */
  void grow(long tokens) {
    squares += 2 * tokens * sum + count * tokens * tokens;
    sum += count * tokens;
  }

  void clear() {
    count = 0;
    sum = 0;
    squares = 0;
  }

  int count() {
    return count;
  }

  long sum() {
    return sum;
  }

  /** Population variance, 0 for an empty set. */
  double variance() {
    if (count == 0) {
      return 0;
    }
    // around the whole part of the mean, so that no large numbers cancel in floating point
    long mean = sum / count;
    long rest = sum - mean * count;
    long around = squares - 2 * mean * sum + mean * mean * count;
    return (around - (double) rest * rest / count) / count;
  }
}
