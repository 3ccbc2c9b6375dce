package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.health.DegradationSettings.Rule;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ModeWatchTest {
  private static final Rule RULE = new Rule(10, 5, 2, 0.5);

  private final ModeWatch watch = new ModeWatch();

  private boolean take(double signal, long now) {
    return watch.take(signal, RULE, 100, now);
  }

  @Test
  void beginsAfterEnoughSignalsInARow() {
    assertThat(take(10, 0)).isFalse();
    assertThat(take(9, 1)).isFalse();
    assertThat(take(11, 2)).isFalse();
    assertThat(take(Double.NaN, 3)).as("unknown begins nothing").isFalse();
    assertThat(take(11, 4)).isFalse();
    assertThat(take(11, 5)).isTrue();
    assertThat(watch.active()).isTrue();
  }

  @Test
  void betweenTheThresholdsNothingChanges() {
    take(10, 0);
    take(10, 1);
    for (int i = 2; i < 1_000; i++) {
      assertThat(take(6, i)).isFalse();
    }
    assertThat(take(5, 1_000)).isFalse();
    assertThat(take(6, 1_001)).isFalse();
    assertThat(take(5, 1_002)).isFalse();
    assertThat(take(5, 1_003)).isTrue();
    assertThat(watch.active()).isFalse();
  }

  @Test
  void endsForWantOfEvidence() {
    take(10, 0);
    take(10, 1);
    assertThat(take(Double.NaN, 200)).isFalse();
    assertThat(take(Double.NaN, 201)).isTrue();
  }

  @Test
  void isHeldAfterEachChange() {
    take(10, 0);
    take(10, 1);
    assertThat(take(0, 2)).isFalse();
    assertThat(take(0, 3)).isFalse();
    assertThat(take(0, 101)).isTrue();
    assertThat(take(10, 102)).isFalse();
    assertThat(take(10, 103)).isFalse();
    assertThat(take(10, 201)).isTrue();
  }

  @Property(tries = 200)
  void neverChangesMoreOftenThanItIsHeld(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 5) int readings) {
    Random random = new Random(seed);
    ModeWatch any = new ModeWatch();
    Rule rule = new Rule(10, 5, readings, 0.5);
    long last = Long.MIN_VALUE;
    long now = 0;
    for (int i = 0; i < 2_000; i++) {
      now += random.nextInt(20);
      if (any.take(random.nextBoolean() ? 20 : 0, rule, 100, now)) {
        assertThat(last == Long.MIN_VALUE || now - last >= 100).isTrue();
        last = now;
      }
    }
  }

  @Test
  void rulesThatCantWorkAreRefused() {
    assertThatThrownBy(() -> new Rule(1, 1, 1, 0)).hasMessageContaining("leave");
    assertThatThrownBy(() -> new Rule(1, 0, 0, 0)).hasMessageContaining("readings");
    assertThatThrownBy(() -> new Rule(1, 0, 1, 1.5)).hasMessageContaining("share");
    assertThatThrownBy(
            () -> DegradationSettings.builder().rule(DegradationMode.RECOVERING, RULE).build())
        .hasMessageContaining("slowStart");
  }
}
