package dev.warmpath.fake.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PlannedTextTest {
  @Test
  void longerAnswerBeginsWithTheShorterOne() {
    PlannedText shorter = PlannedText.plan(7, 10, List.of());
    PlannedText longer = PlannedText.plan(7, 20, List.of());
    assertThat(longer.text(0, 20)).startsWith(shorter.text(0, 10)).hasSize(80);
    assertThat(longer.text(3, 5)).isEqualTo(longer.text(3, 4) + longer.text(4, 5));
    assertThat(PlannedText.plan(8, 10, List.of()).text(0, 10)).isNotEqualTo(shorter.text(0, 10));
  }

  @Test
  void stopTextEndsTheAnswerAndIsLeftOut() {
    PlannedText whole = PlannedText.plan(7, 10, List.of());
    String fifth = whole.text(4, 5).strip();
    PlannedText stopped = PlannedText.plan(7, 10, List.of("never", fifth));
    assertThat(stopped.stopped()).isTrue();
    assertThat(stopped.length()).isEqualTo(5);
    assertThat(stopped.text(0, 5)).isEqualTo(whole.text(0, 4));
    assertThat(stopped.text(4, 5)).isEmpty();
    assertThat(PlannedText.plan(7, 10, List.of("", "never")).stopped()).isFalse();
  }

  @Test
  void seedsDependOnEveryTokenAndTheSalt() {
    int[] tokens = {1, 2, 3};
    assertThat(PlannedText.seed(tokens, 0)).isEqualTo(PlannedText.seed(new int[] {1, 2, 3}, 0));
    assertThat(PlannedText.seed(tokens, 0)).isNotEqualTo(PlannedText.seed(new int[] {3, 2, 1}, 0));
    assertThat(PlannedText.seed(tokens, 0)).isNotEqualTo(PlannedText.seed(tokens, 1));
  }
}
