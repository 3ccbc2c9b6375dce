package dev.warmpath.fake.lab;

import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.study.Study;
import dev.warmpath.fake.study.StudyPolicies;
import dev.warmpath.fake.study.StudyResult;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.policy.RoutingPolicy;
import java.time.Duration;
import java.util.List;

/**
 * The fleet study with this project's own policies beside the frozen ones: the same workloads on
 * the same workers, measured by the same meter. A frozen policy runs on the study's own clients,
 * one of the project's as so many real {@link dev.warmpath.RouterClient}s, each with its polls,
 * leases, indexes and statistics.
 */
public final class FleetSuite {
  /** Begins the name of a policy of this project; what follows, {@code Policies.parse} reads. */
  public static final String OWN = "warmpath:";

  /**
   * Clients have looked at workers for so long before users come that the phases of their polls,
   * which each poll moves at random, are apart.
   */
  private static final double SETTLE_MS = 30_000;

  /** Intervals between polls are stretched by up to a tenth, by half of that on average. */
  private static final double MEAN_STRETCH = 1.05;

  /** Ends the name of a policy whose clients hear KV events. */
  public static final String EVENTS = "+events";

  /** How long after a change clients hear of it. */
  private static final double EVENT_DELAY_MS = 10;

  /** Room for every block of the study's workers: what has to be dropped is no longer told of. */
  private static final long EVENTS_INDEX_BYTES = 512L << 20;

  private FleetSuite() {}

  /**
   * What workers and clients are like.
   *
   * <p>{@link #STUDY} is the preset {@code fleet-study}: the study's workers, polled every 250 ms.
   * {@link #PRODUCT} are vLLM's scheduler and the client's default polling, which paces itself
   * between 1 and 5 s.
   */
  public enum Preset {
    /** The study's. */
    STUDY,
    /** Those of the product. */
    PRODUCT
  }

  /**
   * Runs a workload under a policy.
   *
   * @param preset what workers and clients are like; frozen policies know the study's only
   * @param settings the fleet and its clients
   * @param policy one of {@link StudyPolicies#names()}, or {@link #OWN} and a policy's name; behind
   *     that, {@link #EVENTS} lets its clients hear of the caches' changes, 10 ms later
   * @param workload what is sent
   * @return the figures
   * @throws IllegalArgumentException if the policy is not known, or the preset can't run it
   */
  public static StudyResult run(
      Preset preset, StudySettings settings, String policy, StudyWorkload workload) {
    if (policy.startsWith(OWN)) {
      String name = routing(policy);
      LabSettings.Builder builder =
          labSettings(preset, settings, workload).sessionKeys(name.contains("session"));
      if (policy.endsWith(EVENTS)) {
        builder.eventDelayMs(EVENT_DELAY_MS).indexBytes(EVENTS_INDEX_BYTES);
      }
      LabSettings lab = builder.build();
      FleetWatch watch = new FleetWatch(settings, workload);
      LabResult result = Lab.run(lab, name, sessions(settings, workload), watch);
      return watch.result(policy, result.load().failed());
    }
    if (preset != Preset.STUDY) {
      throw new IllegalArgumentException(
          "policy " + policy + " is frozen: it runs on the study's workers only");
    }
    return Study.run(settings, policy, workload);
  }

  /** What clients route by, without what they hear. */
  private static String routing(String policy) {
    int end = policy.endsWith(EVENTS) ? policy.length() - EVENTS.length() : policy.length();
    return policy.substring(OWN.length(), end);
  }

  /**
   * Checks a policy's name.
   *
   * @param policy one of {@link StudyPolicies#names()}, or {@link #OWN} and a policy's name, maybe
   *     followed by {@link #EVENTS}
   * @throws IllegalArgumentException if it is not known
   */
  public static void requirePolicy(String policy) {
    if (policy.startsWith(OWN)) {
      Lab.requirePolicy(routing(policy));
    } else if (!StudyPolicies.names().contains(policy)) {
      throw new IllegalArgumentException(
          "the suite has no policy '"
              + policy
              + "': it has "
              + StudyPolicies.names()
              + " and those of this project behind "
              + OWN);
    }
  }

  /**
   * Runs a workload on the study's workers under a policy of one's own making, and things happen to
   * the workers.
   *
   * @param settings the fleet and its clients
   * @param policy what every client routes by
   * @param workload what is sent
   * @param incidents what happens to workers, in milliseconds of the workload
   * @return the figures, and how the fleet took what happened
   */
  public static FleetRun run(
      StudySettings settings,
      RoutingPolicy policy,
      StudyWorkload workload,
      List<LabIncident> incidents) {
    LabSettings lab =
        labSettings(Preset.STUDY, settings, workload)
            .sessionKeys(policy.name().contains("session"))
            .incidents(incidents)
            .build();
    FleetWatch watch = new FleetWatch(settings, workload);
    RecoveryWatch recovery = new RecoveryWatch(settings.workers(), incidents);
    LabObserver both =
        new LabObserver() {
          @Override
          public void answered(LabAnswer answer) {
            watch.answered(answer);
            recovery.answered(answer);
          }
        };
    LabResult result = Lab.run(lab, policy, sessions(settings, workload), both);
    return new FleetRun(
        watch.result(OWN + policy.name(), result.load().failed()),
        recovery.recoveries(result.workers()));
  }

  /** In a closed loop users think for a tenth of the time. */
  static List<TraceSession> sessions(StudySettings settings, StudyWorkload workload) {
    return settings.users() == 0
        ? workload.sessions()
        : workload.sessions().stream().map(session -> session.thinking(0.1)).toList();
  }

  static LabSettings.Builder labSettings(
      Preset preset, StudySettings settings, StudyWorkload workload) {
    int blockTokens = workload.blockTokens();
    LabSettings.Builder builder =
        LabSettings.builder()
            .fleet(new FleetSpec(settings.workers(), 0, 0))
            .core(
                CoreOptions.builder()
                    .blockSize(blockTokens)
                    .numBlocks(settings.cacheTokens() / blockTokens)
                    .maxNumSeqs(256)
                    .maxNumBatchedTokens(8_192)
                    .build())
            .clients(settings.clients())
            .sticky(settings.sticky())
            .seed(settings.seed())
            .concurrency(settings.users() * settings.workers())
            .untilMs(workload.untilMs() - FleetWatch.begins(settings, workload))
            .settleMs(SETTLE_MS)
            .roundTripMs(2 * StudySettings.NETWORK_MS);
    if (preset == Preset.STUDY) {
      Duration poll = Duration.ofNanos(Math.round(settings.pollMs() * 1e6 / MEAN_STRETCH));
      builder
          .model(WorkerModel.FLEET_STUDY)
          .health(HealthSettings.builder().loadInterval(poll, poll).build());
    }
    return builder;
  }
}
