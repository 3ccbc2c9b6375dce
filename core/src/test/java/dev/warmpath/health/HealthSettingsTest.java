package dev.warmpath.health;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class HealthSettingsTest {
  @Test
  void theBuilderSetsEachValue() {
    HealthSettings settings =
        HealthSettings.builder()
            .probeInterval(ofSeconds(1))
            .recheckInterval(ofSeconds(2))
            .probeTimeout(ofSeconds(3))
            .failuresToDown(4)
            .passesToUp(5)
            .proofOfLifeWindow(ofSeconds(6))
            .loadInterval(ofSeconds(7), ofSeconds(8))
            .loadTimeout(ofSeconds(9))
            .capabilityInterval(ofSeconds(10))
            .capabilityTimeout(ofSeconds(11))
            .telemetryStaleAfter(ofSeconds(12))
            .degradation(DegradationSettings.OFF)
            .build();
    assertThat(settings)
        .isEqualTo(
            new HealthSettings(
                ofSeconds(1),
                ofSeconds(2),
                ofSeconds(3),
                4,
                5,
                ofSeconds(6),
                ofSeconds(7),
                ofSeconds(8),
                ofSeconds(9),
                ofSeconds(10),
                ofSeconds(11),
                ofSeconds(12),
                DegradationSettings.OFF));
    assertThat(settings.toBuilder().build()).isEqualTo(settings);
    assertThat(HealthSettings.builder().build()).isEqualTo(HealthSettings.DEFAULT);
  }

  @Test
  void nonsenseIsRefused() {
    List<UnaryOperator<HealthSettings.Builder>> nonsense =
        List.of(
            builder -> builder.probeInterval(ZERO),
            builder -> builder.recheckInterval(ofSeconds(-1)),
            builder -> builder.probeTimeout(ZERO),
            builder -> builder.failuresToDown(0),
            builder -> builder.passesToUp(0),
            builder -> builder.proofOfLifeWindow(ofSeconds(-1)),
            builder -> builder.loadInterval(ofMillis(99), ofSeconds(1)),
            builder -> builder.loadInterval(ofSeconds(2), ofSeconds(1)),
            builder -> builder.loadTimeout(ZERO),
            builder -> builder.capabilityInterval(ZERO),
            builder -> builder.capabilityTimeout(ZERO),
            builder -> builder.telemetryStaleAfter(ZERO));
    assertThat(nonsense)
        .allSatisfy(
            change ->
                assertThatThrownBy(() -> change.apply(HealthSettings.builder()).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageMatching(".*(must|longer).*"));
  }
}
