package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class NewTokenRatioTest {
  @Test
  void fallsInSixHundredPassesAndStartsAgain() {
    NewTokenRatio ratio = new NewTokenRatio(1);
    assertThat(ratio.value()).isEqualTo(0.7);

    ratio.decay();
    assertThat(ratio.value()).isCloseTo(0.7 - 0.602 / 600, within(1e-12));
    for (int pass = 1; pass < 600; pass++) {
      ratio.decay();
    }
    assertThat(ratio.value()).isCloseTo(0.098, within(1e-9));
    ratio.decay();
    assertThat(ratio.value()).isCloseTo(0.098, within(1e-9)).isGreaterThanOrEqualTo(0.7 * 0.14);

    ratio.reset();
    assertThat(ratio.value()).isEqualTo(0.7);
  }

  @Test
  void growsWithConservativeness() {
    NewTokenRatio ratio = new NewTokenRatio(0.5);

    assertThat(ratio.value()).isEqualTo(0.35);
    for (int pass = 0; pass < 700; pass++) {
      ratio.decay();
    }
    assertThat(ratio.value()).isCloseTo(0.049, within(1e-9));
  }
}
