package dev.warmpath.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DecimalTest {
  @Test
  void writesWhatTheJdkWrites() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 100_000; i++) {
      check(random.nextLong());
      check(random.nextLong() >>> random.nextInt(64));
    }
  }

  @Test
  void writesPowersOfTenAndTheEndsOfTheRange() {
    check(0);
    check(Long.MIN_VALUE);
    check(Long.MAX_VALUE);
    check(-1);
    long power = 1;
    for (int digits = 0; digits < 20; digits++, power *= 10) {
      check(power - 1);
      check(power);
      check(power + 1);
    }
  }

  private static void check(long value) {
    assertThat(Decimal.signed(value)).isEqualTo(Long.toString(value));
    assertThat(Decimal.signed(-value)).isEqualTo(Long.toString(-value));
    assertThat(Decimal.unsigned(value)).isEqualTo(Long.toUnsignedString(value));
  }
}
