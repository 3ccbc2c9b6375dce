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

  @Test
  void plansInTheTokensOfAnotherEncoder() {
    SyllableEncoder encoder = new SyllableEncoder();
    for (int seed = 0; seed < 200; seed++) {
      int count = seed % 23;
      PlannedText plan = PlannedText.plan(encoder, seed, count, List.of());
      assertThat(plan.length()).isEqualTo(count);
      assertThat(plan.stopped()).isFalse();
      assertThat(encoder.encode(plan.text(0, count), false)).isEqualTo(plan.tokens());
      StringBuilder streamed = new StringBuilder();
      for (int i = 0; i < count; i++) {
        streamed.append(plan.text(i, i + 1));
      }
      assertThat(streamed.toString()).isEqualTo(plan.text(0, count));
    }
  }

  @Test
  void stopsInTheTokensOfAnotherEncoder() {
    SyllableEncoder encoder = new SyllableEncoder();
    PlannedText whole = PlannedText.plan(encoder, 5, 30, List.of());
    String stop = whole.text(10, 12);
    PlannedText stopped = PlannedText.plan(encoder, 5, 30, List.of(stop));
    assertThat(stopped.stopped()).isTrue();
    assertThat(stopped.length()).isLessThanOrEqualTo(12);
    assertThat(whole.text(0, 30)).startsWith(stopped.text(0, stopped.length()));
    assertThat(stopped.text(0, stopped.length())).doesNotContain(stop);
  }
}
