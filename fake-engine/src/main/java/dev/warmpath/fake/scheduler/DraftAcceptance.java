package dev.warmpath.fake.scheduler;

import dev.warmpath.worker.WorkerRole;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** How many tokens a decode step emits for a sequence: one, and the drafts that are accepted. */
final class DraftAcceptance {
  private final List<Double> rates;
  private final @Nullable SplittableRandom draws;

  private DraftAcceptance(List<Double> rates, @Nullable SplittableRandom draws) {
    this.rates = rates;
    this.draws = draws;
  }

  /** A prefill worker hands its first token over and drafts nothing. */
  static DraftAcceptance of(CoreOptions options) {
    Speculation speculation = options.speculation();
    return speculation == null || options.role() == WorkerRole.PREFILL
        ? new DraftAcceptance(List.of(), null)
        : new DraftAcceptance(
            speculation.acceptanceRates(), new SplittableRandom(speculation.seed()));
  }

  /** The most tokens that a step emits for a sequence. */
  int most() {
    return 1 + rates.size();
  }

  /** Draws how many tokens a sequence gets that may get some more. */
  int tokens(int remaining) {
    if (draws == null) {
      return 1;
    }
    int limit = Math.min(most(), remaining);
    int count = 1;
    while (count < limit && draws.nextDouble() < rates.get(count - 1)) {
      count++;
    }
    return count;
  }
}
