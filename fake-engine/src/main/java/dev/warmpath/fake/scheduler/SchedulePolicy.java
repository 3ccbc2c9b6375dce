package dev.warmpath.fake.scheduler;

/** In which order SGLang admits waiting requests. */
public enum SchedulePolicy {
  /** First come, first served. */
  FCFS,
  /**
   * Longest cached prefix first, as long as at most 128 requests wait. Of requests that begin alike
   * and are not cached yet all but the first step back, so that they find what that one computes.
   */
  LPM
}
