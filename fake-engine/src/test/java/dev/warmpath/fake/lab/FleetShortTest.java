package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.lab.FleetRuns.Cell;
import dev.warmpath.fake.study.StudyResult;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.policy.HomingSettings;
import dev.warmpath.policy.Policies;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * {@link FleetAcceptanceTest} in small, for every build: half the workers, one seed, no trace. Its
 * bounds are the same.
 */
@Tag("long")
class FleetShortTest {
  private static final FleetRuns RUNS = new FleetRuns(StudySettings.STUDY.withWorkers(8), 1, null);

  @Test
  void eightClientsFindConversationsCachesAsOneDoes() {
    Cell is = RUNS.homing("sess", 14, 8);
    Cell trees = RUNS.frozen("cache_aware", "sess", 14, 8);
    Cell byId = RUNS.frozen("sesshash", "sess", 14, 8);
    assertThat(is.hit()).isGreaterThanOrEqualTo(0.97 * RUNS.homing("sess", 14, 1).hit());
    assertThat(is.hit()).isGreaterThanOrEqualTo(0.97 * byId.hit());
    assertThat(is.hit()).isGreaterThanOrEqualTo(1.35 * trees.hit());
    assertThat(is.ttft()).isLessThanOrEqualTo(1.10 * byId.ttft());
    assertThat(is.ttft()).isLessThanOrEqualTo(0.5 * trees.ttft());
    assertThat(is.mean(StudyResult::cov)).isLessThanOrEqualTo(0.08);
  }

  @Test
  void documentsAreFoundAgain() {
    Cell is = RUNS.homing("rag", 16, 8);
    Cell hash = RUNS.frozen("chwbl_deep", "rag", 16, 8);
    assertThat(is.ttft()).isLessThanOrEqualTo(0.6 * hash.ttft());
    assertThat(is.p99()).isLessThanOrEqualTo(0.7 * hash.p99());
  }

  @Test
  void aCrowdOnOnePrefixIsSpread() {
    Cell is = RUNS.homing("flash", 8, 8);
    assertThat(is.p99()).isLessThanOrEqualTo(1.25 * RUNS.frozen("sesshash", "flash", 8, 8).p99());
    assertThat(is.ttft()).isLessThanOrEqualTo(0.85 * RUNS.bestPrivate("flash", 8, 8).ttft());
    assertThat(is.mean(StudyResult::cov)).isLessThanOrEqualTo(0.15);
  }

  @Test
  void lostCachesCostLittle() {
    Cell lost =
        RUNS.own(
            "homing with flushes",
            Policies.homing(),
            "sess",
            14,
            8,
            drawn ->
                IntStream.range(0, 4).mapToObj(w -> LabIncident.flush(150_000, 2 * w)).toList());
    assertThat(lost.hit()).isGreaterThanOrEqualTo(0.95 * RUNS.homing("sess", 14, 8).hit());
    assertThat(lost.mean(StudyResult::failed)).isZero();
  }

  @Test
  void withoutBranchesItIsMuchWorse() {
    HomingSettings of = HomingSettings.builder().branches(false).build();
    Cell without = RUNS.own("no branches", Policies.homing(of), "sess", 14, 8, drawn -> List.of());
    assertThat(without.ttft()).isGreaterThanOrEqualTo(1.2 * RUNS.homing("sess", 14, 8).ttft());
  }
}
