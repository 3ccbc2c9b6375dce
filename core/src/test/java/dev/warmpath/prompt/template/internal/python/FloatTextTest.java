package dev.warmpath.prompt.template.internal.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FloatTextTest {
  @ParameterizedTest
  @CsvSource({
    "0.0, 0.0",
    "-0.0, -0.0",
    "1.0, 1.0",
    "0.1, 0.1",
    "1e15, 1000000000000000.0",
    "1e16, 1e+16",
    "123456789012345680.0, 1.2345678901234568e+17",
    "1e22, 1e+22",
    "1e23, 1e+23",
    "0.0001, 0.0001",
    "0.00001, 1e-05",
    "5e-324, 5e-324",
    "1.7976931348623157e308, 1.7976931348623157e+308",
    "2.2250738585072014e-308, 2.2250738585072014e-308",
    "5.684341886080802e-14, 5.684341886080802e-14",
    "9007199254740993, 9007199254740992.0",
    "2e-3, 0.002",
    "1.1e21, 1.1e+21",
    "NaN, nan",
    "Infinity, inf",
    "-Infinity, -inf"
  })
  void writesFloatsAsPythonDoes(double value, String text) {
    assertThat(FloatText.repr(value)).isEqualTo(text);
  }

  @Property(tries = 5000)
  void everyFloatReadsBackAndNoShorterTextWould(@ForAll long bits) {
    double value = Double.longBitsToDouble(bits);
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return;
    }
    String text = FloatText.repr(value);

    assertThat(Double.parseDouble(text)).isEqualTo(value);
    int digits = new BigDecimal(text).stripTrailingZeros().precision();
    if (digits > 1) {
      BigDecimal exact = new BigDecimal(value);
      for (RoundingMode mode : new RoundingMode[] {RoundingMode.DOWN, RoundingMode.UP}) {
        assertThat(exact.round(new MathContext(digits - 1, mode)).doubleValue())
            .isNotEqualTo(value);
      }
    }
  }
}
