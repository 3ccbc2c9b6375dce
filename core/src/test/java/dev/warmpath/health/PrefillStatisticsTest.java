package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class PrefillStatisticsTest {
  @Test
  void halfOfAPromptIsUnderWayWhereAllAreAlike() {
    PrefillStatistics statistics = new PrefillStatistics();
    for (int i = 0; i < 1_000; i++) {
      statistics.computed(3_000);
    }
    assertThat(statistics.uncachedTokens()).isCloseTo(3_000, within(1.0));
    assertThat(statistics.tokensUnderWay()).isCloseTo(1_500, within(1.0));
  }

  @Test
  void aLongPromptAmongShortOnesIsMetForAsLongAsItTakes() {
    PrefillStatistics statistics = new PrefillStatistics();
    Random random = new Random(7);
    double tokens = 0;
    for (int i = 0; i < 40_000; i++) {
      statistics.computed(random.nextInt(10) == 0 ? 20_000 : 500);
      tokens += i < 20_000 ? 0 : statistics.tokensUnderWay() / 20_000;
    }
    // A moment meets the long one with chance 20,000 / (20,000 + 9 * 500), and half of it is left.
    assertThat(tokens).isCloseTo(8_211, within(800.0));
  }

  @Test
  void nothingIsUnderWayWhereAllIsFound() {
    PrefillStatistics statistics = new PrefillStatistics();
    for (int i = 0; i < 5_000; i++) {
      statistics.computed(0);
    }
    assertThat(statistics.tokensUnderWay()).isCloseTo(0, within(1e-6));
  }
}
