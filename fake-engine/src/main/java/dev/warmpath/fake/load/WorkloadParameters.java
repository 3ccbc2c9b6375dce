package dev.warmpath.fake.load;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** A workload's numbers by name, defaults under what the user set. */
final class WorkloadParameters {
  private final String workload;
  private final Map<String, Double> values = new LinkedHashMap<>();

  WorkloadParameters(WorkloadDescription workload, Map<String, String> set) {
    this.workload = workload.name();
    workload.parameters().forEach(parameter -> values.put(parameter.key(), parameter.standard()));
    set.forEach(this::set);
  }

  private void set(String key, String text) {
    if (!values.containsKey(key)) {
      Set<String> known = new TreeSet<>(values.keySet());
      throw new IllegalArgumentException(
          "workload " + workload + " has no parameter '" + key + "'; it has " + known);
    }
    try {
      double value = Double.parseDouble(text);
      if (!(value >= 0) || Double.isInfinite(value)) {
        throw new NumberFormatException();
      }
      values.put(key, value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "parameter " + key + "=" + text + " must be a number of at least 0", e);
    }
  }

  double number(String key) {
    Double value = values.get(key);
    if (value == null) {
      throw new IllegalStateException("workload " + workload + " lacks its parameter " + key);
    }
    return value;
  }

  int whole(String key) {
    return (int) Math.min(Integer.MAX_VALUE, Math.round(number(key)));
  }

  int atLeastOne(String key) {
    return Math.max(1, whole(key));
  }

  /** The mean time between two events of a rate a second, in milliseconds. */
  double gapMs(String key) {
    return 1e3 / Math.max(1e-9, number(key));
  }

  double millis(String key) {
    return number(key) * 1e3;
  }
}
