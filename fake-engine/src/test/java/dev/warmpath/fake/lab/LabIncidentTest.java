package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.lab.FleetSuite.Preset;
import dev.warmpath.fake.study.StudyResult;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class LabIncidentTest {
  private static final StudySettings FOUR = StudySettings.STUDY.withWorkers(4).withClients(3);

  private static StudyWorkload chats() throws IOException {
    return StudyWorkload.draw("sess", 3, 4, 1, null);
  }

  private static List<LabAnswer> answers(RoutingPolicy policy, List<LabIncident> incidents)
      throws IOException {
    List<LabAnswer> all = new ArrayList<>();
    LabObserver observer =
        new LabObserver() {
          @Override
          public void answered(LabAnswer answer) {
            all.add(answer);
          }
        };
    LabSettings settings =
        FleetSuite.labSettings(Preset.STUDY, FOUR, chats()).incidents(incidents).build();
    LabResult result = Lab.run(settings, policy, chats().sessions(), observer);
    assertThat(result.load().failed()).isZero();
    return all;
  }

  private static long sent(List<LabAnswer> answers, int worker, double fromMs, double untilMs) {
    return answers.stream()
        .filter(answer -> answer.worker().equals(LabFleet.url(worker)))
        .filter(answer -> answer.sentMs() >= fromMs && answer.sentMs() < untilMs)
        .count();
  }

  @Test
  void aFlushCostsHitsForAWhileAndNoRequest() throws IOException {
    List<LabIncident> flushes = new ArrayList<>();
    for (int worker = 0; worker < 4; worker++) {
      flushes.add(LabIncident.flush(150_000, worker));
    }
    StudyResult flushed = FleetSuite.run(FOUR, Policies.homing(), chats(), flushes).result();
    StudyResult spared = FleetSuite.run(FOUR, Policies.homing(), chats(), List.of()).result();
    assertThat(flushed.failed()).isZero();
    double before = hitRate(spared, 15) - hitRate(flushed, 15);
    assertThat(before).isGreaterThan(0.1);
    assertThat(hitRate(flushed, 10)).isEqualTo(hitRate(spared, 10));
    assertThat(hitRate(flushed, 24)).isCloseTo(hitRate(spared, 24), within(0.1));
  }

  private static double hitRate(StudyResult result, int slice) {
    return result.slices().get(slice).hitRate();
  }

  /** Requests that were under way are sent again elsewhere: none had an answer yet, or few. */
  @Test
  void aWorkerThatDiesGetsNothingUntilItIsBack() throws IOException {
    List<LabAnswer> answers = new ArrayList<>();
    LabObserver observer =
        new LabObserver() {
          @Override
          public void answered(LabAnswer answer) {
            answers.add(answer);
          }
        };
    LabSettings settings =
        FleetSuite.labSettings(Preset.STUDY, FOUR, chats())
            .incidents(List.of(LabIncident.restart(100_000, 2, 20_000)))
            .build();
    LabResult result = Lab.run(settings, Policies.powerOfTwo(), chats().sessions(), observer);
    // A stream that had begun can't be sent again.
    assertThat(result.load().failed()).isLessThan(40);
    assertThat(sent(answers, 2, 100_001, 119_999)).isZero();
    assertThat(sent(answers, 2, 140_000, 200_000)).isPositive();
  }

  @Test
  void aWorkerThatLeavesGetsNothingNewAndOneThatJoinsGetsItsShare() throws IOException {
    List<LabAnswer> answers =
        answers(
            Policies.homing(),
            List.of(LabIncident.add(100_000, 3), LabIncident.remove(200_000, 0)));
    assertThat(sent(answers, 3, 0, 99_999)).isZero();
    assertThat(sent(answers, 3, 120_000, 200_000)).isPositive();
    assertThat(sent(answers, 0, 100_000, 199_999)).isPositive();
    assertThat(sent(answers, 0, 200_001, 300_000)).isZero();
  }

  @Test
  void theLastClientCanStartColdAmongWarmPeers() throws IOException {
    List<LabAnswer> answers = new ArrayList<>();
    LabObserver observer =
        new LabObserver() {
          @Override
          public void answered(LabAnswer answer) {
            answers.add(answer);
          }
        };
    LabSettings settings =
        FleetSuite.labSettings(Preset.STUDY, FOUR, chats()).coldUntilMs(150_000).build();
    LabResult unused = Lab.run(settings, Policies.homing(), chats().sessions(), observer);
    assertThat(answers.stream().filter(answer -> answer.client() == 2))
        .isNotEmpty()
        .allMatch(answer -> answer.sentMs() >= 150_000);
  }

  @Test
  void incidentsNeedAWorkerOfTheStudy() {
    List<LabIncident> flush = List.of(LabIncident.flush(0, 4));
    assertThatThrownBy(() -> LabSettings.builder().incidents(flush).build())
        .hasMessageContaining("4");
    assertThatThrownBy(
            () ->
                LabSettings.builder()
                    .model(WorkerModel.FLEET_STUDY)
                    .fleet(new FleetSpec(4, 0, 0))
                    .incidents(flush)
                    .build())
        .hasMessageContaining("4");
  }
}
