package dev.warmpath.fake.lab;

import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.policy.RoutingPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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
   * Checks a policy's name.
   *
   * @param policy what {@link dev.warmpath.policy.Policies#parse} reads, or {@link #ORACLE}
   * @throws IllegalArgumentException if it is not known, naming those that are
   */
  public static void requirePolicy(String policy) {
    LabPolicy unused = LabPolicy.parse(policy);
  }

  /**
   * Runs sessions under one policy, from empty caches to the last answer.
   *
   * @param settings fleet, clients and users
   * @param policy a name that {@link dev.warmpath.policy.Policies#parse} reads, or {@link #ORACLE}
   * @param sessions what users send, by start time
   * @return the figures
   * @throws IllegalArgumentException if the policy is not known
   */
  public static LabResult run(LabSettings settings, String policy, List<TraceSession> sessions) {
    return run(settings, policy, sessions, LabObserver.NONE);
  }

  /**
   * As {@link #run(LabSettings, String, List)}, telling what became of each request.
   *
   * @param observer hears of the requests after the run, in the order in which their answers ended
   */
  public static LabResult run(
      LabSettings settings, String policy, List<TraceSession> sessions, LabObserver observer) {
    return run(settings, LabPolicy.parse(policy), sessions, observer);
  }

  /**
   * Runs sessions under a policy of one's own making.
   *
   * @param settings fleet, clients and users
   * @param policy what every client routes by
   * @param sessions what users send, by start time
   * @param observer hears of the requests after the run, in the order in which their answers ended
   * @return the figures
   */
  public static LabResult run(
      LabSettings settings,
      RoutingPolicy policy,
      List<TraceSession> sessions,
      LabObserver observer) {
    return run(settings, LabPolicy.of(policy.name(), (network, of) -> policy), sessions, observer);
  }

  private static LabResult run(
      LabSettings settings, LabPolicy chosen, List<TraceSession> sessions, LabObserver observer) {
    LabResult best = null;
    List<Consumer<LabObserver>> bestHeard = List.of();
    for (LabPolicy.Maker variant : chosen.variants()) {
      List<Consumer<LabObserver>> heard = new ArrayList<>();
      LabResult result;
      try (LabRun run = new LabRun(settings, variant, recorder(heard), RankDrives.VIRTUAL)) {
        result = run.run(chosen.name(), sessions);
      }
      if (best == null || better(result, best)) {
        best = result;
        bestHeard = heard;
      }
    }
    bestHeard.forEach(event -> event.accept(observer));
    return Objects.requireNonNull(best);
  }

  private static LabObserver recorder(List<Consumer<LabObserver>> into) {
    return new LabObserver() {
      @Override
      public void decided(LabDecision decision) {
        into.add(observer -> observer.decided(decision));
      }

      @Override
      public void answered(LabAnswer answer) {
        into.add(observer -> observer.answered(answer));
      }
    };
  }

  private static boolean better(LabResult one, LabResult other) {
    return one.load().failed() != other.load().failed()
        ? one.load().failed() < other.load().failed()
        : one.load().ttft().mean() < other.load().ttft().mean();
  }

  /**
   * Lists where each request of a run goes.
   *
   * @return one decision per request that was answered, by the time of its first token
   */
  public static List<LabDecision> decisions(
      LabSettings settings, String policy, List<TraceSession> sessions) {
    List<LabDecision> all = new ArrayList<>();
    LabResult unused = run(settings, policy, sessions, LabObserver.ofDecisions(all::add));
    return List.copyOf(all);
  }
}
