package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyModelTest {
  private final LatencyModel polynomial = LatencyModel.polynomial();

  @ParameterizedTest
  @CsvSource({
    "1, 16.5166",
    "128, 18.4518",
    "512, 24.3857",
    "1024, 32.4907",
    "2048, 49.3629",
    "4096, 85.7560",
    "8192, 169.1369",
    "16384, 378.2779"
  })
  void prefillPolynomial(int tokens, double ms) {
    assertThat(polynomial.prefillMs(1, tokens, 0)).isEqualTo(ms, within(5e-5));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 5.74",
    "0.01, 6.2775",
    "0.1, 10.8836",
    "0.25, 17.63375",
    "0.5, 26.31",
    "1, 34.01"
  })
  void decodePolynomialFollowsOccupancyOnly(double usage, double ms) {
    long total = 1_000_000;
    long active = (long) (usage * total);
    assertThat(polynomial.decodeMs(1, active, 10, total)).isEqualTo(ms, within(5e-5));
    assertThat(polynomial.decodeMs(200, active, 9999, total)).isEqualTo(ms, within(5e-5));
  }

  @Test
  void prefillIsPricedPerPassAndNotPerRequest() {
    assertThat(polynomial.prefillMs(4, 2048, 0)).isEqualTo(polynomial.prefillMs(1, 8192, 0));
    assertThat(polynomial.prefillMs(2, 3000, 1000)).isEqualTo(polynomial.prefillMs(1, 4000, 0));
    assertThat(polynomial.prefillMs(3, 512, 512)).isZero();
  }

  @Test
  void scalingDividesAndZeroMeansNone() {
    LatencyModel twice = polynomial.scaled(2, 4);
    assertThat(twice.prefillMs(1, 1024, 0)).isEqualTo(polynomial.prefillMs(1, 1024, 0) / 2);
    assertThat(twice.decodeMs(1, 0, 1, 100)).isEqualTo(polynomial.decodeMs(1, 0, 1, 100) / 4);
    LatencyModel same = polynomial.scaled(0, -1);
    assertThat(same.prefillMs(1, 1024, 0)).isEqualTo(polynomial.prefillMs(1, 1024, 0));
  }

  @Test
  void rolesDropTheOtherPart() {
    assertThat(polynomial.prefillOnly().decodeMs(1, 0, 1, 100)).isZero();
    assertThat(polynomial.prefillOnly().prefillMs(1, 128, 0)).isPositive();
    assertThat(polynomial.decodeOnly().prefillMs(1, 128, 0)).isZero();
    assertThat(polynomial.decodeOnly().decodeMs(1, 0, 1, 100)).isPositive();
  }

  @Test
  void presets() {
    assertThat(LatencyModel.parse("polynomial")).isSameAs(polynomial);
    assertThat(LatencyModel.parse("instant").prefillMs(1, 9999, 0)).isZero();
    LatencyModel constant = LatencyModel.parse("constant:prefill=0.02,decode=7");
    assertThat(constant.prefillMs(2, 150, 50)).isEqualTo(4, within(1e-9));
    assertThat(constant.decodeMs(9, 1, 1, 1)).isEqualTo(7);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "poly",
        "constant:",
        "constant:prefill=x",
        "constant:prefill=-1",
        "constant:a=1"
      })
  void unknownPresetsAreNamed(String preset) {
    assertThatThrownBy(() -> LatencyModel.parse(preset))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("unknown timing '" + preset + "'");
  }
}
