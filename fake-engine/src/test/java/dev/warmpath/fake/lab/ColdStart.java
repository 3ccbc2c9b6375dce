package dev.warmpath.fake.lab;

import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.policy.RoutingPolicy;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The first half minute of a client that joins warm peers, in prompt tokens found. */
final class ColdStart implements LabObserver {
  static final double JOINS_MS = 150_000;
  private static final double WINDOW_MS = 30_000;

  private final int last;
  private final long[] prompt = new long[2];
  private final long[] cached = new long[2];

  private ColdStart(int last) {
    this.last = last;
  }

  /**
   * Runs a workload in which the last client gets nothing until it joins.
   *
   * @param kept the statistics that it starts with, and overwrites; null for none
   */
  static ColdStart run(
      StudySettings settings, RoutingPolicy policy, StudyWorkload workload, @Nullable Path kept) {
    LabSettings.Builder builder =
        FleetSuite.labSettings(FleetSuite.Preset.STUDY, settings, workload).coldUntilMs(JOINS_MS);
    if (kept != null) {
      builder.branchFile(kept);
    }
    ColdStart watch = new ColdStart(settings.clients() - 1);
    LabResult unused = Lab.run(builder.build(), policy, workload.sessions(), watch);
    return watch;
  }

  /** Lets the last client learn from the start, and keep what it learned. */
  static void learn(
      StudySettings settings, RoutingPolicy policy, StudyWorkload workload, Path kept) {
    LabSettings of =
        FleetSuite.labSettings(FleetSuite.Preset.STUDY, settings, workload)
            .branchFile(kept)
            .build();
    LabResult unused = Lab.run(of, policy, workload.sessions(), new LabObserver() {});
  }

  @Override
  public void answered(LabAnswer answer) {
    Integer all = answer.usage().promptTokens();
    Integer found = answer.usage().cachedTokens();
    if (answer.sentMs() >= JOINS_MS && answer.sentMs() < JOINS_MS + WINDOW_MS && all != null) {
      int who = answer.client() == last ? 0 : 1;
      prompt[who] += all;
      cached[who] += found == null ? 0 : found;
    }
  }

  /** The hit rate of the client that joined. */
  double joined() {
    return (double) cached[0] / prompt[0];
  }

  /** That of the others, in the same half minute. */
  double peers() {
    return (double) cached[1] / prompt[1];
  }
}
