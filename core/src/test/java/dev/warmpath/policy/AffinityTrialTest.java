package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class AffinityTrialTest {
  private final AffinityTrial trial = new AffinityTrial();
  private final Random random = new Random(11);
  private long now = 5;

  /** Ten minutes of traffic, one request a second, a tenth of it the control group's. */
  private void tenMinutes(double placedMillis, double controlMillis) {
    for (int i = 0; i < 600; i++) {
      now += 1_000_000_000L;
      boolean controlled = random.nextInt(10) == 0;
      double middle = controlled ? controlMillis : placedMillis;
      trial.observe(controlled, middle * Math.exp(0.5 * random.nextGaussian()), now);
    }
  }

  private double weight() {
    return trial.verdict().weight();
  }

  @Test
  void affinityThatHurtsRetreatsStepByStepAndComesBack() {
    tenMinutes(1_617, 627);
    double first = weight();
    assertThat(first).isIn(0.25, 0.5);
    assertThat(trial.verdict().ratio()).isCloseTo(1_617 / 627.0, within(0.6));
    for (int i = 0; i < 6; i++) {
      tenMinutes(1_617, 627);
    }
    assertThat(weight()).as("never to nothing").isEqualTo(AffinityTrial.LEAST_WEIGHT);
    for (int i = 0; i < 10; i++) {
      tenMinutes(400, 627);
    }
    assertThat(weight()).isEqualTo(1);
  }

  @Test
  void affinityThatHelpsOrMakesNoDifferenceStays() {
    for (int i = 0; i < 6; i++) {
      tenMinutes(300, 600);
      assertThat(weight()).isEqualTo(1);
    }
    for (int i = 0; i < 12; i++) {
      tenMinutes(500, 500);
      assertThat(weight()).isEqualTo(1);
    }
  }

  @Test
  void aFewRequestsProveNothing() {
    for (int i = 0; i < AffinityTrial.ENOUGH - 1; i++) {
      now += 10_000_000_000L;
      trial.observe(true, 100, now);
      trial.observe(false, 10_000, now);
    }
    assertThat(weight()).isEqualTo(1);
  }

  @Test
  void isJudgedNoMoreOftenThanItsInterval() {
    long last = Long.MIN_VALUE;
    double before = weight();
    for (int i = 0; i < 100_000; i++) {
      now += 10_000_000L;
      boolean flip = i / 500 % 2 == 0;
      trial.observe(i % 2 == 0, i % 2 == 0 ? 100 : flip ? 1_000 : 10, now);
      if (weight() != before) {
        assertThat(last == Long.MIN_VALUE || now - last >= AffinityTrial.INTERVAL_NANOS).isTrue();
        last = now;
        before = weight();
      }
    }
  }
}
