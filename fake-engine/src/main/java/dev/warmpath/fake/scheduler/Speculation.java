package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * Multi-token prediction: each step drafts tokens, and emits one token plus the drafts that were
 * accepted.
 *
 * @param acceptanceRates one rate per drafted token: the probability that it is accepted if the one
 *     before was
 * @param seed where the draws begin; give every rank its own
 */
public record Speculation(List<Double> acceptanceRates, long seed) {

  /** Checks that there are 1 to 5 rates from 0 to 1. */
  public Speculation {
    acceptanceRates = List.copyOf(acceptanceRates);
    if (acceptanceRates.isEmpty() || acceptanceRates.size() > 5) {
      throw new IllegalArgumentException(
          "there must be 1 to 5 acceptance rates, were " + acceptanceRates.size());
    }
    for (double rate : acceptanceRates) {
      if (!(rate >= 0 && rate <= 1)) {
        throw new IllegalArgumentException("acceptance rates must be from 0 to 1, was " + rate);
      }
    }
  }
}
