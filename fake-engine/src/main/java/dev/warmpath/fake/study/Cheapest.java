package dev.warmpath.fake.study;

import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;

/** The smallest of a few numbers; equal ones have equal chances. */
final class Cheapest {
  private Cheapest() {}

  static int of(int workers, SplittableRandom random, IntToDoubleFunction cost) {
    int best = 0;
    double least = Double.POSITIVE_INFINITY;
    int ties = 0;
    for (int worker = 0; worker < workers; worker++) {
      double is = cost.applyAsDouble(worker);
      if (is < least) {
        best = worker;
        least = is;
        ties = 1;
      } else if (is == least && random.nextInt(++ties) == 0) {
        best = worker;
      }
    }
    return best;
  }
}
