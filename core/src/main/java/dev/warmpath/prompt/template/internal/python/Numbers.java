package dev.warmpath.prompt.template.internal.python;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * Python's numbers. An {@code int} is a {@code Long}, {@code Integer}, {@code Short}, {@code Byte}
 * or {@code BigInteger}; results are {@code Long} wherever they fit. A {@code float} is a {@code
 * Double}, {@code Float} or {@code BigDecimal}. A {@code bool} counts as an int.
 */
public final class Numbers {
  private static final BigInteger LONG_MIN = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger LONG_MAX = BigInteger.valueOf(Long.MAX_VALUE);

  /** Python refuses to convert longer ints to and from text. */
  private static final int MAX_DIGITS = 4300;

  private Numbers() {}

  /** Whether it is an int and no bool. */
  public static boolean isInt(Object o) {
    return o instanceof Long
        || o instanceof Integer
        || o instanceof BigInteger
        || o instanceof Short
        || o instanceof Byte;
  }

  /** Whether it is an int or a bool. */
  public static boolean isIntegral(Object o) {
    return isInt(o) || o instanceof Boolean;
  }

  /** Whether it is a float. */
  public static boolean isFloat(Object o) {
    return o instanceof Double || o instanceof Float || o instanceof BigDecimal;
  }

  /** Whether it is a float, an int or a bool. */
  public static boolean isNumber(Object o) {
    return o instanceof Number || o instanceof Boolean;
  }

  /** Whether it is an int or bool of at most 64 bits. */
  public static boolean isLong(Object o) {
    return o instanceof Long
        || o instanceof Integer
        || o instanceof Boolean
        || o instanceof Short
        || o instanceof Byte
        || (o instanceof BigInteger b && b.bitLength() < 64);
  }

  /** The value of something that {@link #isLong}. */
  public static long asLong(Object o) {
    return o instanceof Boolean b ? (b ? 1 : 0) : ((Number) o).longValue();
  }

  /** The value of an int or bool. */
  public static BigInteger asBig(Object o) {
    return o instanceof BigInteger b ? b : BigInteger.valueOf(asLong(o));
  }

  /** A number as a float; an {@code OverflowError} where an int is too large. */
  public static double asDouble(Object o) {
    if (o instanceof BigInteger b) {
      double d = b.doubleValue();
      if (Double.isInfinite(d)) {
        throw PyError.overflow("int too large to convert to float");
      }
      return d;
    }
    if (o instanceof Float f) {
      // a Float came from a document: what was meant is its decimal text
      return Double.parseDouble(f.toString());
    }
    return o instanceof Boolean b ? (b ? 1 : 0) : ((Number) o).doubleValue();
  }

  /** An int in its usual form. */
  public static Object of(BigInteger b) {
    return b.bitLength() < 64 ? (Object) b.longValue() : b;
  }

  /** Whether it is not zero. */
  public static boolean isTrue(Object o) {
    if (o instanceof Boolean b) {
      return b;
    }
    if (o instanceof BigInteger b) {
      return b.signum() != 0;
    }
    return isFloat(o) ? asDouble(o) != 0 : asLong(o) != 0;
  }

  /** Compares; not for NaN. */
  public static int compare(Object a, Object b) {
    if (isLong(a) && isLong(b)) {
      return Long.compare(asLong(a), asLong(b));
    }
    boolean floatA = isFloat(a);
    boolean floatB = isFloat(b);
    if (floatA && floatB) {
      double x = asDouble(a);
      double y = asDouble(b);
      return x < y ? -1 : x > y ? 1 : 0;
    }
    if (!floatA && !floatB) {
      return asBig(a).compareTo(asBig(b));
    }
    return floatA ? -compareIntFloat(b, asDouble(a)) : compareIntFloat(a, asDouble(b));
  }

  private static int compareIntFloat(Object i, double d) {
    if (Double.isInfinite(d)) {
      return d > 0 ? -1 : 1;
    }
    if (isLong(i) && Math.abs(asLong(i)) <= 1L << 53) {
      return Double.compare((double) asLong(i), d + 0.0);
    }
    return new BigDecimal(asBig(i)).compareTo(new BigDecimal(d));
  }

  /** Whether it is a float that is no number. */
  public static boolean isNaN(Object o) {
    return (o instanceof Double d && d.isNaN()) || (o instanceof Float f && f.isNaN());
  }

  /** A value with Java's equality, the same for all numbers that are equal in Python. */
  static Object hashable(Object o) {
    if (isLong(o)) {
      return asLong(o);
    }
    if (o instanceof BigInteger) {
      return o;
    }
    double d = asDouble(o);
    if (d == Math.rint(d) && !Double.isInfinite(d)) {
      BigInteger b = new BigDecimal(d).toBigInteger();
      return of(b);
    }
    return d;
  }

  /** Python's {@code str} of a number that is no bool. */
  public static String text(Number n) {
    if (n instanceof BigInteger b) {
      // a digit is more than three bits: only numbers near the limit need their text to be counted
      if (b.bitLength() > MAX_DIGITS * 3
          && b.abs().compareTo(BigInteger.TEN.pow(MAX_DIGITS)) >= 0) {
        throw PyError.value(
            "Exceeds the limit (4300 digits) for integer string conversion; use"
                + " sys.set_int_max_str_digits() to increase the limit");
      }
      return b.toString();
    }
    return isFloat(n) ? FloatText.repr(asDouble(n)) : Long.toString(n.longValue());
  }

  /** Refuses text of more digits than Python reads. */
  public static void checkDigits(int digits) {
    if (digits > MAX_DIGITS) {
      throw PyError.value(
          "Exceeds the limit (4300 digits) for integer string conversion: value has "
              + digits
              + " digits; use sys.set_int_max_str_digits() to increase the limit");
    }
  }

  /**
   * What {@code operator.index} gives, clipped to 64 bits; a {@code TypeError} for what is no int.
   */
  public static long index(Object o) {
    if (isLong(o)) {
      return asLong(o);
    }
    if (o instanceof BigInteger b) {
      return b.signum() < 0 ? LONG_MIN.longValue() : LONG_MAX.longValue();
    }
    throw PyError.type("'" + Py.typeName(o) + "' object cannot be interpreted as an integer");
  }

  /** An int argument that must fit the machine's index type. */
  public static int size(Object o) {
    if (isFloat(o)) {
      throw PyError.type("'float' object cannot be interpreted as an integer");
    }
    if (o instanceof BigInteger b && b.bitLength() > 63) {
      throw PyError.overflow("Python int too large to convert to C ssize_t");
    }
    long value = index(o);
    return (int) Math.max(Math.min(value, Integer.MAX_VALUE), Integer.MIN_VALUE);
  }

  /** Python's {@code int(text, base)}; a {@code ValueError} where it is no such int. */
  public static Object parseInt(String text, int base, Object original) {
    if (base != 0 && (base < 2 || base > 36)) {
      throw PyError.value("int() base must be >= 2 and <= 36, or 0");
    }
    Object value = parseIntOrMissing(asciiDigits(Text.strip(text)), base);
    if (value == Missing.MISSING) {
      throw PyError.value(
          "invalid literal for int() with base " + base + ": " + Repr.ofShort(original));
    }
    return value;
  }

  private static Object parseIntOrMissing(String s, int requestedBase) {
    int base = requestedBase;
    int at = 0;
    boolean negative = false;
    if (at < s.length() && (s.charAt(at) == '+' || s.charAt(at) == '-')) {
      negative = s.charAt(at) == '-';
      at++;
    }
    boolean prefixed = false;
    if (at + 1 < s.length() && s.charAt(at) == '0') {
      int prefixBase =
          switch (s.charAt(at + 1)) {
            case 'x', 'X' -> 16;
            case 'o', 'O' -> 8;
            case 'b', 'B' -> 2;
            default -> 0;
          };
      if (prefixBase != 0 && (base == 0 || base == prefixBase)) {
        base = prefixBase;
        at += 2;
        prefixed = true;
      }
    }
    boolean decimalByDefault = base == 0;
    if (decimalByDefault) {
      base = 10;
    }
    StringBuilder digits = new StringBuilder(s.length());
    boolean separatorAllowed = prefixed;
    for (; at < s.length(); at++) {
      char c = s.charAt(at);
      if (c == '_') {
        if (!separatorAllowed) {
          return Missing.MISSING;
        }
        separatorAllowed = false;
      } else if (c < 0x80 && Character.digit(c, base) >= 0) {
        digits.append(c);
        separatorAllowed = true;
      } else {
        return Missing.MISSING;
      }
    }
    if (digits.isEmpty() || s.endsWith("_")) {
      return Missing.MISSING;
    }
    if ((base & base - 1) != 0) {
      checkDigits(digits.length());
    }
    BigInteger value = new BigInteger(digits.toString(), base);
    if (decimalByDefault && digits.charAt(0) == '0' && value.signum() != 0) {
      return Missing.MISSING;
    }
    return of(negative ? value.negate() : value);
  }

  /** Python's {@code float(text)}; a {@code ValueError} where it is no such float. */
  public static double parseFloat(String text, Object original) {
    String s = asciiDigits(Text.strip(text));
    String body = s.startsWith("+") || s.startsWith("-") ? s.substring(1) : s;
    double sign = s.startsWith("-") ? -1 : 1;
    if (body.equalsIgnoreCase("inf") || body.equalsIgnoreCase("infinity")) {
      return sign * Double.POSITIVE_INFINITY;
    }
    if (body.equalsIgnoreCase("nan")) {
      return Double.NaN;
    }
    String plain = withoutSeparators(body);
    if (!isFloatText(plain)) {
      throw PyError.value("could not convert string to float: " + Repr.ofShort(original));
    }
    return sign * Double.parseDouble(plain);
  }

  private static String withoutSeparators(String s) {
    if (s.indexOf('_') < 0) {
      return s;
    }
    StringBuilder sb = new StringBuilder(s.length());
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c != '_') {
        sb.append(c);
      } else if (i == 0
          || i + 1 == s.length()
          || !isDigit(s.charAt(i - 1))
          || !isDigit(s.charAt(i + 1))) {
        return "";
      }
    }
    return sb.toString();
  }

  private static boolean isFloatText(String s) {
    int at = 0;
    int digits = 0;
    while (at < s.length() && isDigit(s.charAt(at))) {
      at++;
      digits++;
    }
    if (at < s.length() && s.charAt(at) == '.') {
      at++;
      while (at < s.length() && isDigit(s.charAt(at))) {
        at++;
        digits++;
      }
    }
    if (digits == 0) {
      return false;
    }
    if (at < s.length() && (s.charAt(at) == 'e' || s.charAt(at) == 'E')) {
      at++;
      if (at < s.length() && (s.charAt(at) == '+' || s.charAt(at) == '-')) {
        at++;
      }
      int exponentAt = at;
      while (at < s.length() && isDigit(s.charAt(at))) {
        at++;
      }
      if (at == exponentAt) {
        return false;
      }
    }
    return at == s.length();
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  /** Decimal digits of all scripts become ASCII ones. */
  private static String asciiDigits(String s) {
    for (int i = 0; i < s.length(); i++) {
      if (s.charAt(i) >= 0x80) {
        StringBuilder sb = new StringBuilder(s.length());
        s.codePoints()
            .forEach(
                cp -> {
                  if (cp >= 0x80 && Character.getType(cp) == Character.DECIMAL_DIGIT_NUMBER) {
                    sb.append((char) ('0' + Character.digit(cp, 10)));
                  } else {
                    sb.appendCodePoint(cp);
                  }
                });
        return sb.toString();
      }
    }
    return s;
  }
}
