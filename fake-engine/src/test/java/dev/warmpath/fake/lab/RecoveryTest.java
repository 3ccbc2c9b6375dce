package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.api.Usage;
import dev.warmpath.fake.lab.FleetSuite.Preset;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.policy.Policies;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the lab says of fleets whose workers come, go and lose their caches. */
class RecoveryTest {
  private static final int WORKERS = 4;
  private static final double AT_MS = 50_000;

  private static List<LabIncident> incidents(LabIncident.Kind kind) {
    return switch (kind) {
      case FLUSH -> List.of(LabIncident.flush(AT_MS, 2));
      case RESTART -> List.of(LabIncident.restart(AT_MS, 2, 5_000));
      case REMOVE -> List.of(LabIncident.remove(AT_MS, 2));
      case ADD -> List.of(LabIncident.add(AT_MS, 2));
    };
  }

  /** Eight router clients, told by their own polls only. */
  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void noWorkerIsRunDownAndHitsComeBack(LabIncident.Kind kind) throws IOException {
    StudySettings settings = StudySettings.STUDY.withWorkers(WORKERS).withClients(8);
    StudyWorkload chats = StudyWorkload.draw("sess", 10, WORKERS, 1, null);
    RecoveryWatch watch = new RecoveryWatch(WORKERS, incidents(kind));
    LabSettings lab =
        FleetSuite.labSettings(Preset.STUDY, settings, chats)
            .incidents(incidents(kind))
            .untilMs(AT_MS + 45_000)
            .build();
    LabResult result = Lab.run(lab, Policies.homing(), chats.sessions(), watch);
    LabRecovery recovery = watch.recoveries(result.workers()).get(0);

    assertThat(recovery.before().hitRate()).isGreaterThan(0.8);
    assertThat(recovery.after().hitRate()).isBetween(0.5, recovery.before().hitRate() - 0.02);
    assertThat(recovery.seconds()).isBetween(5.0, 40.0);
    assertThat(recovery.after().largestShare()).isLessThan(1.6);
    assertThat(recovery.after().longestQueue()).isLessThan(8);
  }

  /** Ten prompts of 100 tokens a second, each to the next worker. */
  private static RecoveryWatch watch(
      List<LabIncident> incidents, int seconds, IntToDoubleFunction hitRate) {
    RecoveryWatch watch = new RecoveryWatch(WORKERS, incidents);
    for (int i = 0; i < 10 * seconds; i++) {
      int cached = (int) Math.round(100 * hitRate.applyAsDouble(i / 10));
      answer(watch, i * 100.0, i % WORKERS, cached);
    }
    return watch;
  }

  private static void answer(RecoveryWatch watch, double at, int worker, int cached) {
    watch.answered(
        new LabAnswer("s", 0, 0, at, at, at, LabFleet.url(worker), new Usage(100, cached, 1)));
  }

  private static double seconds(List<LabIncident> incidents, IntToDoubleFunction hitRate) {
    return watch(incidents, 200, hitRate).recoveries(Map.of()).get(0).seconds();
  }

  @Test
  void recoveryIsWhenHitsAreBackWithinTwoHundredths() {
    List<LabIncident> flush = List.of(LabIncident.flush(100_000, 0));
    // One second of it in five is too much.
    assertThat(seconds(flush, s -> s >= 100 && s < 110 ? 0.5 : 0.9)).isEqualTo(15);
    assertThat(seconds(flush, s -> s >= 100 ? 0.89 : 0.9)).isZero();
    assertThat(seconds(flush, s -> s >= 100 ? 0.8 : 0.9)).isNaN();
    // Felt late: what was as before until then is not yet back.
    assertThat(seconds(flush, s -> s >= 120 && s < 130 ? 0.5 : 0.9)).isEqualTo(35);
  }

  @Test
  void incidentsThatFollowEachOtherAreOne() {
    List<LabIncident> restarts =
        List.of(
            LabIncident.restart(60_000, 0, 10_000),
            LabIncident.restart(80_000, 1, 10_000),
            LabIncident.flush(190_000, 2));
    List<LabRecovery> recoveries =
        watch(restarts, 260, s -> s >= 60 && s < 95 ? 0.6 : 0.9).recoveries(Map.of());
    assertThat(recoveries).extracting(r -> r.incidents().size()).containsExactly(2, 1);
    assertThat(recoveries.get(0).seconds()).isEqualTo(20);
    assertThat(recoveries.get(0).after().hitRate()).isCloseTo(0.6, within(0.001));
    assertThat(recoveries.get(1).seconds()).isZero();
  }

  @Test
  void sharesAreThoseOfTheWorkersThatAreThere() {
    RecoveryWatch watch = new RecoveryWatch(WORKERS, List.of(LabIncident.remove(40_000, 3)));
    for (int i = 0; i < 800; i++) {
      int among = i < 400 ? 4 : 3;
      answer(watch, i * 100.0, i >= 600 && i < 650 ? 0 : i % among, 50);
    }
    LabRecovery recovery =
        watch
            .recoveries(
                Map.of(
                    "one",
                    List.of(
                        new LabResult.Sample(30, 1, 2, 0.1),
                        new LabResult.Sample(61, 1, 7, 0.1),
                        new LabResult.Sample(150, 1, 9, 0.1))))
            .get(0);
    assertThat(recovery.before().largestShare()).isCloseTo(1, within(0.1));
    assertThat(recovery.after().largestShare()).isCloseTo(3, within(0.001));
    assertThat(recovery.before().longestQueue()).isEqualTo(2);
    assertThat(recovery.after().longestQueue()).isEqualTo(7);
  }
}
