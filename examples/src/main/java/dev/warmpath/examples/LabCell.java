package dev.warmpath.examples;

import dev.warmpath.fake.lab.LabResult;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One place of a comparison in virtual time, run once per seed.
 *
 * @param policy the policy's name
 * @param clients router clients
 * @param load what the comparison goes over: requests a second on offer, conversations under way,
 *     or KV blocks
 * @param runs one result per seed
 */
record LabCell(String policy, int clients, double load, List<LabResult> runs) {
  LabCell {
    runs = List.copyOf(runs);
  }

  /** The mean over seeds. */
  double mean(ToDoubleFunction<LabResult> value) {
    return runs.stream().mapToDouble(value).average().orElse(Double.NaN);
  }

  double min(ToDoubleFunction<LabResult> value) {
    return runs.stream().mapToDouble(value).min().orElse(Double.NaN);
  }

  double max(ToDoubleFunction<LabResult> value) {
    return runs.stream().mapToDouble(value).max().orElse(Double.NaN);
  }

  /** The same place under another policy. */
  boolean beside(LabCell other) {
    return clients == other.clients && load == other.load;
  }
}
