package dev.warmpath.prompt.template.internal.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Map;

/** Python's {@code "..." % values}. */
final class PercentFormat {
  private static final int MAX_WIDTH = 1 << 24;

  private final Rendering r;
  private final String format;
  private final boolean escape;
  private final StringBuilder out = new StringBuilder();

  /** Where {@code %(name)s} looks; {@code Missing} where the values are no mapping. */
  private final Object mapping;

  private Object values;
  private int next;
  private int at;

  private PercentFormat(Rendering r, String format, Object values, boolean escape) {
    this.r = r;
    this.format = format;
    this.values = values;
    this.escape = escape;
    this.mapping =
        Py.isSubscriptable(values) && !(values instanceof PyTuple) && !Py.isString(values)
            ? values
            : Missing.MISSING;
  }

  /** Formats. */
  static Object format(Rendering r, Object format, Object values) {
    boolean markup = format instanceof Markup;
    String s = new PercentFormat(r, Py.text(format), values, markup).run();
    return markup ? new Markup(s) : s;
  }

  private String run() {
    while (at < format.length()) {
      int percent = format.indexOf('%', at);
      if (percent < 0) {
        out.append(format, at, format.length());
        break;
      }
      out.append(format, at, percent);
      at = percent + 1;
      directive();
      r.charge();
      r.chargeChars(out.length() / 64);
    }
    boolean unused = values instanceof PyTuple tuple ? next < tuple.size() : next == 0;
    if (unused && mapping == Missing.MISSING) {
      throw PyError.type("not all arguments converted during string formatting");
    }
    r.chargeChars(out.length());
    return out.toString();
  }

  private Object nextValue() {
    if (values instanceof PyTuple tuple ? next < tuple.size() : next == 0) {
      Object value = values instanceof PyTuple tuple ? tuple.get(next) : values;
      next++;
      return value;
    }
    throw PyError.type("not enough arguments for format string");
  }

  private void directive() {
    boolean left = false;
    boolean plus = false;
    boolean blank = false;
    boolean alternate = false;
    boolean zero = false;
    if (peek() == '(') {
      key();
    }
    for (boolean flags = true; flags; ) {
      switch (peek()) {
        case '-' -> left = true;
        case '+' -> plus = true;
        case ' ' -> blank = true;
        case '#' -> alternate = true;
        case '0' -> zero = true;
        default -> flags = false;
      }
      if (flags) {
        at++;
      }
    }
    int width = -1;
    if (peek() == '*') {
      at++;
      width = starValue();
      if (width < 0) {
        left = true;
        width = -width;
      }
    } else if (Character.isDigit(peek())) {
      width = number("width too big");
    }
    int precision = -1;
    if (peek() == '.') {
      at++;
      if (peek() == '*') {
        at++;
        precision = Math.max(starValue(), 0);
      } else {
        precision = Character.isDigit(peek()) ? number("precision too big") : 0;
      }
    }
    if (peek() == 'h' || peek() == 'l' || peek() == 'L') {
      at++;
    }
    if (at >= format.length()) {
      throw PyError.value("incomplete format");
    }
    char conversion = format.charAt(at++);
    if (conversion == '%') {
      out.append('%');
      return;
    }
    int conversionAt = at - 1;
    Object value = nextValue();
    String sign = plus ? "+" : blank ? " " : "";
    switch (conversion) {
      case 's', 'r', 'a' -> text(conversion, value, precision, width, left);
      case 'c' -> pad("", "", character(value), width, left, ' ');
      case 'd', 'i', 'u', 'o', 'x', 'X' ->
          integer(conversion, value, precision, width, left, zero, alternate, sign);
      case 'e', 'E', 'f', 'F', 'g', 'G' ->
          floating(conversion, value, precision, width, left, zero, alternate, sign);
      default ->
          throw PyError.value(
              "unsupported format character '"
                  + Character.toString(format.codePointAt(conversionAt))
                  + "' (0x"
                  + Integer.toHexString(format.codePointAt(conversionAt))
                  + ") at index "
                  + format.codePointCount(0, conversionAt));
    }
  }

  private char peek() {
    return at < format.length() ? format.charAt(at) : '\0';
  }

  private void key() {
    if (mapping == Missing.MISSING) {
      throw PyError.type("format requires a mapping");
    }
    int from = at + 1;
    int open = 1;
    int i = from;
    for (; i < format.length() && open > 0; i++) {
      open += format.charAt(i) == '(' ? 1 : format.charAt(i) == ')' ? -1 : 0;
    }
    if (open > 0) {
      throw PyError.value("incomplete format key");
    }
    at = i;
    String key = format.substring(from, i - 1);
    if (mapping instanceof Map<?, ?> map) {
      Object value = Dicts.get(map, key);
      if (value == Missing.MISSING) {
        throw PyError.of("KeyError", Repr.ofString(key));
      }
      values = value;
    } else if (mapping instanceof Undefined undefined) {
      throw undefined.error();
    } else {
      throw PyError.type(Py.typeName(mapping) + " indices must be integers or slices, not str");
    }
    next = 0;
  }

  private int starValue() {
    Object value = nextValue();
    if (!Numbers.isIntegral(value)) {
      throw PyError.type("* wants int");
    }
    int n = Numbers.size(value);
    if (Math.abs((long) n) > MAX_WIDTH) {
      throw PyError.limit("a width of more than " + MAX_WIDTH);
    }
    return n;
  }

  private int number(String whenTooBig) {
    long n = 0;
    while (Character.isDigit(peek())) {
      n = n * 10 + Character.digit(peek(), 10);
      if (n > Integer.MAX_VALUE) {
        throw PyError.value(whenTooBig);
      }
      at++;
    }
    r.chargeChars(n);
    return (int) n;
  }

  private void text(char conversion, Object value, int precision, int width, boolean left) {
    String s =
        switch (conversion) {
          case 's' -> escape ? Markup.escape(r, value).text() : Py.str(r, value);
          case 'r' -> Repr.of(r, value);
          default -> Repr.ascii(r, value);
        };
    if (escape && conversion != 's') {
      s = Markup.escapeText(r, s);
    }
    if (precision >= 0 && Text.length(s) > precision) {
      s = Text.substring(s, 0, precision);
    }
    pad("", "", s, width, left, ' ');
  }

  private static String character(Object value) {
    if (Py.isString(value) && Text.length(Py.text(value)) == 1) {
      return Py.text(value);
    }
    if (!Numbers.isIntegral(value)) {
      throw PyError.type("%c requires int or char");
    }
    long c = Numbers.index(value);
    if (c < 0 || c > Character.MAX_CODE_POINT) {
      throw PyError.overflow("%c arg not in range(0x110000)");
    }
    return Character.toString((int) c);
  }

  private void integer(
      char conversion,
      Object value,
      int precision,
      int width,
      boolean left,
      boolean zero,
      boolean alternate,
      String positiveSign) {
    boolean decimal = conversion == 'd' || conversion == 'i' || conversion == 'u';
    BigInteger n;
    if (Numbers.isIntegral(value)) {
      n = Numbers.asBig(value);
    } else if (decimal && Numbers.isFloat(value)) {
      n = truncate(Numbers.asDouble(value));
    } else if (value instanceof Undefined undefined && decimal) {
      throw undefined.error();
    } else {
      throw PyError.type(
          "%"
              + conversion
              + (decimal
                  ? " format: a real number is required, not "
                  : " format: an integer is required, not ")
              + Py.typeName(value));
    }
    String digits;
    String prefix = "";
    switch (conversion) {
      case 'o' -> {
        digits = n.abs().toString(8);
        prefix = alternate ? "0o" : "";
      }
      case 'x', 'X' -> {
        digits = n.abs().toString(16);
        prefix = alternate ? "0x" : "";
      }
      default -> digits = Numbers.text(n.abs());
    }
    if (precision > digits.length()) {
      digits = "0".repeat(precision - digits.length()) + digits;
    }
    if (conversion == 'X') {
      digits = digits.toUpperCase(Locale.ROOT);
      prefix = prefix.toUpperCase(Locale.ROOT);
    }
    pad(n.signum() < 0 ? "-" : positiveSign, prefix, digits, width, left, zero ? '0' : ' ');
  }

  /** A float without its fraction; an error where it is not finite. */
  static BigInteger truncate(double d) {
    if (Double.isNaN(d)) {
      throw PyError.value("cannot convert float NaN to integer");
    }
    if (Double.isInfinite(d)) {
      throw PyError.overflow("cannot convert float infinity to integer");
    }
    return new BigDecimal(d).toBigInteger();
  }

  private void floating(
      char conversion,
      Object value,
      int requestedPrecision,
      int width,
      boolean left,
      boolean zero,
      boolean alternate,
      String positiveSign) {
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (!Numbers.isNumber(value)) {
      throw PyError.type("must be real number, not " + Py.typeName(value));
    }
    double d = Numbers.asDouble(value);
    int precision = requestedPrecision < 0 ? 6 : requestedPrecision;
    String s =
        switch (conversion) {
          case 'e', 'E' -> FloatText.scientific(d, precision, alternate);
          case 'f', 'F' -> FloatText.fixed(d, precision, alternate);
          default -> FloatText.general(d, precision, alternate);
        };
    if (Character.isUpperCase(conversion)) {
      s = s.toUpperCase(Locale.ROOT);
    }
    boolean negative = s.startsWith("-");
    pad(
        negative ? "-" : positiveSign,
        "",
        negative ? s.substring(1) : s,
        width,
        left,
        zero ? '0' : ' ');
  }

  private void pad(String sign, String prefix, String body, int width, boolean left, char fill) {
    int padding = Math.max(width - sign.length() - prefix.length() - Text.length(body), 0);
    r.chargeChars(padding);
    if (fill == ' ' && !left) {
      out.append(" ".repeat(padding));
    }
    out.append(sign).append(prefix);
    if (fill != ' ' && !left) {
      out.append(String.valueOf(fill).repeat(padding));
    }
    out.append(body);
    if (left) {
      out.append(" ".repeat(padding));
    }
  }
}
