package dev.warmpath.fake.load;

import java.util.List;

/**
 * A workload by name.
 *
 * @param name what it is asked for by
 * @param what what its traffic is like
 * @param parameters what can be set
 */
public record WorkloadDescription(String name, String what, List<WorkloadParameter> parameters) {
  /** Copies {@code parameters}. */
  public WorkloadDescription {
    parameters = List.copyOf(parameters);
  }
}
