package dev.warmpath.health;

import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The median of what this client's quicker requests take to their first byte, over all ranks that
 * do the same work: of the same role, with the same models. Immutable.
 */
final class FleetLatency {
  /** Ranks below which nobody is unlike the others. */
  private static final int ENOUGH = 3;

  private record Kind(WorkerRole role, Set<String> models) {
    static Kind of(Worker worker) {
      return new Kind(
          worker.role(),
          worker.models().stream()
              .filter(model -> !model.adapter())
              .map(ServedModel::id)
              .collect(Collectors.toSet()));
    }
  }

  private final Map<Kind, Double> medians = new HashMap<>();

  private FleetLatency(Map<Kind, List<Double>> samples) {
    samples.forEach(
        (kind, millis) -> {
          Collections.sort(millis);
          // The lower of the two in the middle: a slow one must not raise what it is measured by.
          double median = millis.get((millis.size() - 1) / 2);
          medians.put(kind, millis.size() < ENOUGH ? Double.NaN : median);
        });
  }

  static FleetLatency of(FleetView view) {
    Map<Kind, List<Double>> samples = new HashMap<>();
    for (Worker worker : view.topology().workers()) {
      List<Double> millis = samples.computeIfAbsent(Kind.of(worker), kind -> new ArrayList<>());
      worker.ranks().stream()
          .mapToDouble(rank -> view.state(rank).quickMillis())
          .filter(latency -> !Double.isNaN(latency))
          .forEach(millis::add);
    }
    samples.values().removeIf(List::isEmpty);
    return new FleetLatency(samples);
  }

  /** In milliseconds; NaN where too few are known. */
  double median(Worker worker) {
    return medians.getOrDefault(Kind.of(worker), Double.NaN);
  }
}
