package dev.warmpath.fake.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Compares policies on simulated fleets in virtual time. Every request goes through {@link
 * dev.warmpath.RouterClient}, with its own clock, telemetry polls, leases, retries and indexes;
 * only its transport and its time are simulated. The same settings and sessions give the same
 * result, on any machine.
 */
public final class Lab {
  /** The policy that knows everything, for comparison; no real router can. */
  public static final String ORACLE = Oracle.NAME;

  private Lab() {}

  /**
   * Runs sessions under one policy, from empty caches to the last answer.
   *
   * @param settings fleet, clients and users
   * @param policy a name that {@link dev.warmpath.policy.Policies#parse} reads, or {@link #ORACLE}
   * @param sessions what users send, by start time
   * @return the figures
   * @throws IllegalArgumentException if the policy is not known
   */
  public static LabResult run(LabSettings settings, String policy, List<LabSession> sessions) {
    return run(settings, policy, sessions, decision -> {});
  }

  /**
   * As {@link #run(LabSettings, String, List)}, telling where each request went.
   *
   * @param decisions hears of each request when its first token came
   */
  public static LabResult run(
      LabSettings settings,
      String policy,
      List<LabSession> sessions,
      Consumer<LabDecision> decisions) {
    LabPolicy chosen = LabPolicy.parse(policy);
    try (LabRun run = new LabRun(settings, chosen, decisions)) {
      return run.run(chosen.name(), sessions);
    }
  }

  /**
   * Lists where each request of a run goes.
   *
   * @return one decision per request that was answered, by the time of its first token
   */
  public static List<LabDecision> decisions(
      LabSettings settings, String policy, List<LabSession> sessions) {
    List<LabDecision> all = new ArrayList<>();
    run(settings, policy, sessions, all::add);
    return List.copyOf(all);
  }
}
