package dev.warmpath.prompt.template.internal.python;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Floats as Python writes them. */
public final class FloatText {
  private static final double EXACT_INTEGERS = 1e15;

  private FloatText() {}

  /** Python's {@code repr}: the shortest decimal that reads back as the same float. */
  public static String repr(double d) {
    if (Double.isNaN(d)) {
      return "nan";
    }
    if (Double.isInfinite(d)) {
      return d > 0 ? "inf" : "-inf";
    }
    if (d == Math.rint(d) && Math.abs(d) < EXACT_INTEGERS) {
      return (d == 0 && 1 / d < 0 ? "-0" : Long.toString((long) d)) + ".0";
    }
    BigDecimal shortest = shortest(Math.abs(d));
    String digits = shortest.unscaledValue().toString();
    int exponent = digits.length() - 1 - shortest.scale();
    digits = withoutTrailingZeros(digits);
    StringBuilder sb = new StringBuilder(24);
    if (d < 0) {
      sb.append('-');
    }
    if (exponent >= 16 || exponent < -4) {
      sb.append(digits.charAt(0));
      if (digits.length() > 1) {
        sb.append('.').append(digits, 1, digits.length());
      }
      appendExponent(sb, 'e', exponent);
    } else if (exponent < 0) {
      sb.append("0.").append("0".repeat(-exponent - 1)).append(digits);
    } else if (digits.length() <= exponent + 1) {
      sb.append(digits).append("0".repeat(exponent + 1 - digits.length())).append(".0");
    } else {
      sb.append(digits, 0, exponent + 1).append('.').append(digits, exponent + 1, digits.length());
    }
    return sb.toString();
  }

  /**
   * The decimal of fewest digits that reads back as {@code d}, and of these the one nearest to it.
   */
  private static BigDecimal shortest(double d) {
    BigDecimal exact = new BigDecimal(d);
    for (int precision = 1; precision < 17; precision++) {
      BigDecimal nearest = exact.round(new MathContext(precision, RoundingMode.HALF_EVEN));
      if (nearest.doubleValue() == d) {
        return nearest;
      }
      // below a power of two the gap is smaller: the nearest may miss where its neighbour on the
      // other side hits
      BigDecimal other =
          exact.round(
              new MathContext(
                  precision, nearest.compareTo(exact) > 0 ? RoundingMode.DOWN : RoundingMode.UP));
      if (other.doubleValue() == d) {
        return other;
      }
    }
    return exact.round(new MathContext(17, RoundingMode.HALF_EVEN));
  }

  private static String withoutTrailingZeros(String digits) {
    int end = digits.length();
    while (end > 1 && digits.charAt(end - 1) == '0') {
      end--;
    }
    return digits.substring(0, end);
  }

  private static void appendExponent(StringBuilder sb, char e, int exponent) {
    sb.append(e).append(exponent < 0 ? '-' : '+');
    int magnitude = Math.abs(exponent);
    if (magnitude < 10) {
      sb.append('0');
    }
    sb.append(magnitude);
  }

  /** C's {@code %.{precision}f}; {@code alternate} keeps the point. */
  public static String fixed(double d, int precision, boolean alternate) {
    String special = special(d);
    if (!special.isEmpty()) {
      return special;
    }
    String s =
        new BigDecimal(Math.abs(d)).setScale(precision, RoundingMode.HALF_EVEN).toPlainString();
    return sign(d) + s + (precision == 0 && alternate ? "." : "");
  }

  /** C's {@code %.{precision}e}. */
  public static String scientific(double d, int precision, boolean alternate) {
    String special = special(d);
    if (!special.isEmpty()) {
      return special;
    }
    StringBuilder sb = new StringBuilder();
    sb.append(sign(d));
    String digits;
    int exponent;
    if (d == 0) {
      digits = "0".repeat(precision + 1);
      exponent = 0;
    } else {
      BigDecimal rounded =
          new BigDecimal(Math.abs(d)).round(new MathContext(precision + 1, RoundingMode.HALF_EVEN));
      digits = rounded.unscaledValue().toString();
      exponent = digits.length() - 1 - rounded.scale();
      digits =
          digits.length() > precision + 1
              ? digits.substring(0, precision + 1)
              : digits + "0".repeat(precision + 1 - digits.length());
    }
    sb.append(digits.charAt(0));
    if (precision > 0 || alternate) {
      sb.append('.').append(digits, 1, digits.length());
    }
    appendExponent(sb, 'e', exponent);
    return sb.toString();
  }

  /** C's {@code %.{precision}g}. */
  public static String general(double d, int requestedPrecision, boolean alternate) {
    return general(d, requestedPrecision, alternate, 0);
  }

  /**
   * C's {@code %g}, with exponents from {@code precision - slack} on: Python's default format is
   * {@code %g} that always keeps a digit behind the point.
   */
  static String general(double d, int requestedPrecision, boolean alternate, int slack) {
    String special = special(d);
    if (!special.isEmpty()) {
      return special;
    }
    int precision = Math.max(requestedPrecision, 1);
    int exponent = 0;
    if (d != 0) {
      BigDecimal rounded =
          new BigDecimal(Math.abs(d)).round(new MathContext(precision, RoundingMode.HALF_EVEN));
      exponent = rounded.precision() - 1 - rounded.scale();
    }
    String s;
    if (exponent < -4 || exponent >= precision - slack) {
      s = scientific(d, precision - 1, alternate);
      if (!alternate) {
        int e = s.indexOf('e');
        s = trimmed(s.substring(0, e)) + s.substring(e);
      }
    } else {
      s = fixed(d, precision - 1 - exponent, alternate);
      if (!alternate) {
        s = trimmed(s);
      }
    }
    return s;
  }

  private static String trimmed(String s) {
    if (s.indexOf('.') < 0) {
      return s;
    }
    int end = s.length();
    while (s.charAt(end - 1) == '0') {
      end--;
    }
    if (s.charAt(end - 1) == '.') {
      end--;
    }
    return s.substring(0, end);
  }

  private static String special(double d) {
    if (Double.isNaN(d)) {
      return "nan";
    }
    return Double.isInfinite(d) ? (d > 0 ? "inf" : "-inf") : "";
  }

  private static String sign(double d) {
    return d < 0 || (d == 0 && 1 / d < 0) ? "-" : "";
  }
}
