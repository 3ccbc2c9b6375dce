package dev.warmpath.fake.lab;

import dev.warmpath.fake.study.StudyResult;
import java.util.List;

/**
 * A run in which things happen to workers.
 *
 * @param result what it came to
 * @param recoveries how the fleet took them
 */
public record FleetRun(StudyResult result, List<LabRecovery> recoveries) {
  /** Copies {@code recoveries}. */
  public FleetRun {
    recoveries = List.copyOf(recoveries);
  }
}
