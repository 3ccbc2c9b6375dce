package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.PyBytes;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;

/** The attributes and methods of {@code int}, {@code bool} and {@code float}. */
final class NumberMethods {
  private NumberMethods() {}

  static Object attribute(Object number, String name) {
    return Numbers.isFloat(number) ? ofFloat(number, name) : ofInt(number, name);
  }

  private static Object ofInt(Object number, String name) {
    BoundMethod.Method method =
        switch (name) {
          case "as_integer_ratio" ->
              simple("int." + name, n -> new PyTuple(Arithmetic.plus(n), 1L));
          case "bit_count" -> simple("int." + name, n -> (long) Numbers.asBig(n).abs().bitCount());
          case "bit_length" ->
              simple("int." + name, n -> (long) Numbers.asBig(n).abs().bitLength());
          case "conjugate" -> simple("int." + name, Arithmetic::plus);
          case "to_bytes" -> NumberMethods::toBytes;
          case "from_bytes" ->
              (r, self, args) -> {
                throw PyError.type("from_bytes() needs bytes");
              };
          default -> null;
        };
    if (method != null) {
      return new BoundMethod(number, name, method);
    }
    return switch (name) {
      case "real", "numerator" -> Arithmetic.plus(number);
      case "imag" -> 0L;
      case "denominator" -> 1L;
      default -> Missing.MISSING;
    };
  }

  private static Object ofFloat(Object number, String name) {
    BoundMethod.Method method =
        switch (name) {
          case "as_integer_ratio" -> simple("float." + name, NumberMethods::ratio);
          case "conjugate" -> simple("float." + name, Arithmetic::plus);
          case "hex" -> simple("float." + name, NumberMethods::hex);
          case "is_integer" -> simple("float." + name, NumberMethods::isInteger);
          case "fromhex" ->
              (r, self, args) -> {
                throw PyError.value("invalid hexadecimal floating-point string");
              };
          default -> null;
        };
    if (method != null) {
      return new BoundMethod(number, name, method);
    }
    return switch (name) {
      case "real" -> Arithmetic.plus(number);
      case "imag" -> 0.0;
      default -> Missing.MISSING;
    };
  }

  private interface Simple {
    Object of(Object number);
  }

  private static BoundMethod.Method simple(String qualifiedName, Simple body) {
    return (r, self, args) -> {
      Parameters.none(qualifiedName, args);
      return body.of(self);
    };
  }

  private static Object isInteger(Object number) {
    double d = Numbers.asDouble(number);
    return d == Math.rint(d) && !Double.isInfinite(d);
  }

  private static Object ratio(Object number) {
    double d = Numbers.asDouble(number);
    if (Double.isNaN(d)) {
      throw PyError.value("cannot convert NaN to integer ratio");
    }
    if (Double.isInfinite(d)) {
      throw PyError.overflow("cannot convert Infinity to integer ratio");
    }
    BigDecimal exact = new BigDecimal(d);
    BigInteger numerator = exact.scale() > 0 ? exact.unscaledValue() : exact.toBigInteger();
    BigInteger denominator = exact.scale() > 0 ? BigInteger.TEN.pow(exact.scale()) : BigInteger.ONE;
    BigInteger divisor = numerator.gcd(denominator);
    return new PyTuple(
        Numbers.of(numerator.divide(divisor)), Numbers.of(denominator.divide(divisor)));
  }

  private static Object hex(Object number) {
    double d = Numbers.asDouble(number);
    if (Double.isNaN(d) || Double.isInfinite(d)) {
      return Double.isNaN(d) ? "nan" : d > 0 ? "inf" : "-inf";
    }
    long bits = Double.doubleToRawLongBits(d);
    int exponent = (int) (bits >> 52 & 0x7ff);
    long fraction = bits & (1L << 52) - 1;
    String sign = bits < 0 ? "-" : "";
    if (exponent == 0 && fraction == 0) {
      return sign + "0x0.0p+0";
    }
    int shown = exponent == 0 ? -1022 : exponent - 1023;
    return String.format(
        Locale.ROOT,
        "%s0x%d.%013xp%s%d",
        sign,
        exponent == 0 ? 0 : 1,
        fraction,
        shown < 0 ? "-" : "+",
        Math.abs(shown));
  }

  private static Object toBytes(Rendering r, Object self, Args args) {
    Object[] values = Parameters.named("to_bytes", args, "length", "byteorder", "signed");
    int length = Parameters.integer(values[0], 1);
    boolean little = "little".equals(values[1]);
    BigInteger n = Numbers.asBig(self);
    if (n.signum() < 0) {
      throw PyError.overflow("can't convert negative int to unsigned");
    }
    if (length < 0 || n.bitLength() > length * 8L) {
      throw PyError.overflow("int too big to convert");
    }
    r.chargeChars(length);
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[little ? i : length - 1 - i] = n.shiftRight(8 * i).byteValue();
    }
    return new PyBytes(bytes);
  }
}
