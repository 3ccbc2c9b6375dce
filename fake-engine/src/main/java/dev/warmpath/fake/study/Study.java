package dev.warmpath.fake.study;

/** Runs the study's frozen policies. The same arguments give the same result on any machine. */
public final class Study {
  private Study() {}

  /**
   * Runs a workload under one frozen policy, from empty caches on.
   *
   * @param settings the fleet and its clients
   * @param policy one of {@link StudyPolicies#names()}
   * @param workload what is sent
   * @return the figures
   * @throws IllegalArgumentException if the policy is not known
   */
  public static StudyResult run(StudySettings settings, String policy, StudyWorkload workload) {
    return new StudyRun(settings, policy, workload).run();
  }
}
