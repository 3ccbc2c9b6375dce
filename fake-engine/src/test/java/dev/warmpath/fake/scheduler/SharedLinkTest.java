package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class SharedLinkTest {
  private static final double MEGABYTE = 1e6;
  private final SharedLink<String> link = new SharedLink<>(1);

  @Test
  void loneTransferHasTheWholeLink() {
    link.start(0, MEGABYTE, "a");

    assertThat(link.nextEndMs()).isEqualTo(1.0, within(1e-9));
    assertThat(link.advance(0.999)).isEmpty();
    assertThat(link.advance(1.0)).containsExactly("a");
    assertThat(link.isIdle()).isTrue();
  }

  @Test
  void twoTogetherTakeTwiceAsLong() {
    link.start(0, MEGABYTE, "a");
    link.start(0, MEGABYTE, "b");

    assertThat(link.nextEndMs()).isEqualTo(2.0, within(1e-9));
    assertThat(link.advance(2.0)).containsExactly("a", "b");
  }

  @Test
  void lateOneSlowsTheEarlyOneDown() {
    link.start(0, MEGABYTE, "a");
    link.start(0.5, MEGABYTE, "b");

    assertThat(link.nextEndMs()).isEqualTo(1.5, within(1e-9));
    assertThat(link.advance(1.5)).containsExactly("a");
    assertThat(link.nextEndMs()).isEqualTo(2.0, within(1e-9));
    assertThat(link.advance(2.0)).containsExactly("b");
  }

  @Test
  void oneStepOverSeveralEndsIsTheSameAsManySteps() {
    link.start(0, MEGABYTE, "a");
    link.start(0.5, MEGABYTE, "b");

    assertThat(link.advance(1.9)).containsExactly("a");
    assertThat(link.nextEndMs()).isEqualTo(2.0, within(1e-9));
  }

  @Test
  void tenTogetherTakeTenTimesAsLong() {
    for (int i = 0; i < 10; i++) {
      link.start(0, MEGABYTE, "t" + i);
    }

    assertThat(link.nextEndMs()).isEqualTo(10.0, within(1e-9));
    assertThat(link.advance(10.0)).hasSize(10);
  }

  @Test
  void timeNeverRunsBackwards() {
    link.start(5, MEGABYTE, "a");

    assertThat(link.advance(2)).isEmpty();
    link.start(1, MEGABYTE, "b");

    assertThat(link.nextEndMs()).isEqualTo(7.0, within(1e-9));
  }

  @Test
  void withoutBandwidthEverythingArrivesAtTheNextTick() {
    SharedLink<String> instant = new SharedLink<>(0);
    instant.start(3, MEGABYTE, "a");

    assertThat(instant.nextEndMs()).isEqualTo(3);
    assertThat(instant.advance(3)).containsExactly("a");
    assertThat(instant.nextEndMs()).isInfinite();
  }

  @Test
  void negativeSizeIsRefused() {
    assertThatThrownBy(() -> link.start(0, -1, "a")).isInstanceOf(IllegalArgumentException.class);
  }
}
