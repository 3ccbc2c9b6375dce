package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.lab.FleetSuite.Preset;
import dev.warmpath.fake.study.StudyResult;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class FleetSuiteTest {
  private static final StudySettings SMALL = StudySettings.STUDY.withWorkers(4).withClients(3);

  private static StudyWorkload rag() throws IOException {
    return StudyWorkload.draw("rag", 1, 4, 5, null);
  }

  /** Chance alone decides here, so that both must come to the same but for the draws. */
  @Test
  void routerClientsMeasureWhatTheStudysOwnClientsMeasure() throws IOException {
    StudyResult frozen = FleetSuite.run(Preset.STUDY, SMALL, "rr", rag());
    StudyResult own = FleetSuite.run(Preset.STUDY, SMALL, "warmpath:round_robin", rag());
    assertThat(own.failed()).isZero();
    assertThat(own.requests()).isEqualTo(frozen.requests());
    assertThat(own.hitRate()).isCloseTo(frozen.hitRate(), within(0.03));
    assertThat(own.meanMs()).isCloseTo(frozen.meanMs(), within(0.1 * frozen.meanMs()));
    assertThat(FleetSuite.run(Preset.STUDY, SMALL, "warmpath:round_robin", rag())).isEqualTo(own);
  }

  @Test
  void theProductsPresetRunsTheEnginesScheduler() throws IOException {
    StudyResult own = FleetSuite.run(Preset.PRODUCT, SMALL, "warmpath:cache_aware", rag());
    assertThat(own.failed()).isZero();
    assertThat(own.hitRate()).isBetween(0.3, 0.9);
    assertThatThrownBy(() -> FleetSuite.run(Preset.PRODUCT, SMALL, "linear", rag()))
        .hasMessageContaining("frozen");
  }

  /**
   * Trees of their own know a third of the traffic each; events tell every client of all caches.
   */
  @Test
  void clientsThatHearOfCachesFindWhatOthersHaveCached() throws IOException {
    StudyResult alone = FleetSuite.run(Preset.STUDY, SMALL, "warmpath:cache_aware", rag());
    StudyResult told = FleetSuite.run(Preset.STUDY, SMALL, "warmpath:cache_aware+events", rag());
    assertThat(told.failed()).isZero();
    assertThat(told.hitRate()).isGreaterThan(alone.hitRate() + 0.05);
    assertThatThrownBy(
            () -> FleetSuite.run(Preset.PRODUCT, SMALL, "warmpath:cache_aware+events", rag()))
        .hasMessageContaining("fleet study");
  }

  @Test
  void unknownPoliciesAreRefused() {
    assertThatThrownBy(() -> FleetSuite.requirePolicy("no_such")).hasMessageContaining("warmpath:");
    assertThatThrownBy(() -> FleetSuite.requirePolicy("warmpath:no_such"))
        .hasMessageContaining("no_such");
    FleetSuite.requirePolicy("warmpath:cache_aware");
    FleetSuite.requirePolicy("warmpath:pin>homing+events");
    FleetSuite.requirePolicy("chwbl_deep");
  }
}
