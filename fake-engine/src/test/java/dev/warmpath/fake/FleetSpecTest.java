package dev.warmpath.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.worker.WorkerRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FleetSpecTest {
  @Test
  void parsesBothForms() {
    assertThat(FleetSpec.parse(" 4 ")).isEqualTo(new FleetSpec(4, 0, 0)).hasToString("4");
    assertThat(FleetSpec.parse("2p3d")).isEqualTo(new FleetSpec(0, 2, 3)).hasToString("2p3d");
    assertThat(FleetSpec.parse("2P3D")).isEqualTo(new FleetSpec(0, 2, 3));
    assertThat(new FleetSpec(1, 1, 1).roles())
        .containsExactly(WorkerRole.REGULAR, WorkerRole.PREFILL, WorkerRole.DECODE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "-1", "p", "2p", "2d2p", "four", "0p0d", "99999"})
  void refusesTheRest(String spec) {
    assertThatThrownBy(() -> FleetSpec.parse(spec)).isInstanceOf(IllegalArgumentException.class);
  }
}
