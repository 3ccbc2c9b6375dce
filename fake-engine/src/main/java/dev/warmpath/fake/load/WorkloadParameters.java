package dev.warmpath.fake.load;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** A workload's numbers by name, defaults under what the user set. */
final class WorkloadParameters {
  private final String workload;
  private final Map<String, Double> values = new LinkedHashMap<>();

  WorkloadParameters(String workload, Map<String, Double> defaults, Map<String, String> set) {
    this.workload = workload;
    values.putAll(defaults);
    set.forEach(
        (key, text) -> {
          if (!defaults.containsKey(key)) {
            Set<String> known = new TreeSet<>(defaults.keySet());
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
        });
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
}
