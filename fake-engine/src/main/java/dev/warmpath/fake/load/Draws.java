package dev.warmpath.fake.load;

import java.util.SplittableRandom;

/** Seeded draws from the distributions that workloads are made of. */
final class Draws {
  private final SplittableRandom random;

  Draws(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** Exponential with this mean. */
  double exponential(double mean) {
    return -mean * Math.log(1 - random.nextDouble());
  }

  /** Lognormal with mean {@code mean} and log-sigma {@code sigma}, cut to a range and rounded. */
  int lognormal(double mean, double sigma, int min, int max) {
    double drawn = mean * Math.exp(sigma * random.nextGaussian() - sigma * sigma / 2);
    return (int) Math.max(min, Math.min(max, Math.round(drawn)));
  }

  /** Uniform over {@code min..max}, both included. */
  int uniform(int min, int max) {
    return random.nextInt(min, max + 1);
  }

  double uniform(double max) {
    return random.nextDouble() * max;
  }

  /** Picks 0..n-1 with weights 1/(i+1)^s. */
  Zipf zipf(int n, double s) {
    return new Zipf(n, s);
  }

  /** A Zipf distribution over ranks. */
  final class Zipf {
    private final double[] cumulative;

    private Zipf(int n, double s) {
      cumulative = new double[n];
      double sum = 0;
      for (int i = 0; i < n; i++) {
        sum += Math.pow(i + 1.0, -s);
        cumulative[i] = sum;
      }
    }

    int next() {
      double at = random.nextDouble() * cumulative[cumulative.length - 1];
      int found = java.util.Arrays.binarySearch(cumulative, at);
      return Math.min(cumulative.length - 1, found < 0 ? -found - 1 : found);
    }
  }
}
