package dev.warmpath.fake.lab;

import dev.warmpath.fake.study.StudyMeter;
import dev.warmpath.fake.study.StudyResult;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Measures a run of the lab as the study measures its own. */
final class FleetWatch implements LabObserver {
  private final StudyMeter meter;
  private final Map<String, Integer> families = new HashMap<>();
  private final double beginsMs;

  FleetWatch(StudySettings settings, StudyWorkload workload) {
    this.meter = new StudyMeter(settings.workers(), workload.fromMs(), workload.untilMs());
    this.beginsMs = begins(settings, workload);
    for (int i = 0; i < workload.sessions().size(); i++) {
      families.put(workload.sessions().get(i).id(), workload.families()[i]);
    }
  }

  /** The lab's open loop begins with the first arrival. */
  static double begins(StudySettings settings, StudyWorkload workload) {
    return settings.users() > 0 ? 0 : workload.sessions().get(0).arrivalMs();
  }

  @Override
  public void answered(LabAnswer answer) {
    Integer family = families.get(answer.session());
    double sent = beginsMs + answer.sentMs();
    meter.sent(family == null ? -1 : family, sent, LabFleet.number(answer.worker()));
    meter.firstToken(
        sent,
        answer.firstMs() - answer.sentMs(),
        count(answer.usage().promptTokens()),
        count(answer.usage().cachedTokens()));
    meter.finished(beginsMs + answer.endMs());
  }

  private static int count(@Nullable Integer tokens) {
    return tokens == null ? 0 : tokens;
  }

  StudyResult result(String policy, long failed) {
    return meter.result(policy, failed);
  }
}
