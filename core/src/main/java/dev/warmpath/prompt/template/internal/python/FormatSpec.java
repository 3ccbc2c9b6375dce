package dev.warmpath.prompt.template.internal.python;

import java.math.BigInteger;
import java.util.Locale;

/** Python's {@code format(value, spec)}. */
public final class FormatSpec {
  private final String fill;
  private final char align;
  private final boolean explicitAlign;
  private final char sign;
  private final boolean noNegativeZero;
  private final boolean alternate;
  private final int width;
  private final char grouping;
  private final int precision;
  private final char type;

  private static final char NONE = '\0';

  private FormatSpec(
      String fill,
      char align,
      boolean explicitAlign,
      char sign,
      boolean noNegativeZero,
      boolean alternate,
      int width,
      char grouping,
      int precision,
      char type) {
    this.fill = fill;
    this.align = align;
    this.explicitAlign = explicitAlign;
    this.sign = sign;
    this.noNegativeZero = noNegativeZero;
    this.alternate = alternate;
    this.width = width;
    this.grouping = grouping;
    this.precision = precision;
    this.type = type;
  }

  /** Formats a value. */
  public static String format(Rendering r, Object value, String spec) {
    if (spec.isEmpty()) {
      return Py.str(r, value);
    }
    boolean number = Numbers.isNumber(value);
    if (!number && !Py.isString(value)) {
      throw PyError.type(
          "unsupported format string passed to " + Py.typeName(value) + ".__format__");
    }
    FormatSpec parsed = parse(spec, number, Py.typeName(value));
    r.chargeChars(Math.max(parsed.width, 0));
    r.chargeChars(Math.max(parsed.precision, 0));
    String s =
        Numbers.isFloat(value)
            ? parsed.formatFloat(Numbers.asDouble(value), "float")
            : number ? parsed.formatInt(value) : parsed.formatString(Py.text(value));
    r.chargeChars(s.length());
    return s;
  }

  private static FormatSpec parse(String spec, boolean number, String typeName) {
    int at = 0;
    String fill = " ";
    char align = number ? '>' : '<';
    boolean explicitAlign = false;
    boolean explicitFill = false;
    int first = spec.codePointAt(0);
    int afterFirst = Character.charCount(first);
    if (afterFirst < spec.length() && isAlign(spec.charAt(afterFirst))) {
      fill = spec.substring(0, afterFirst);
      align = spec.charAt(afterFirst);
      at = afterFirst + 1;
      explicitAlign = true;
      explicitFill = true;
    } else if (isAlign(spec.charAt(0))) {
      align = spec.charAt(0);
      at = 1;
      explicitAlign = true;
    }
    char sign = NONE;
    if (at < spec.length() && "+- ".indexOf(spec.charAt(at)) >= 0) {
      sign = spec.charAt(at++);
    }
    boolean noNegativeZero = false;
    if (at < spec.length() && spec.charAt(at) == 'z') {
      noNegativeZero = true;
      at++;
    }
    boolean alternate = false;
    if (at < spec.length() && spec.charAt(at) == '#') {
      alternate = true;
      at++;
    }
    if (!explicitFill && at < spec.length() && spec.charAt(at) == '0') {
      fill = "0";
      if (!explicitAlign && number) {
        align = '=';
      }
      at++;
    }
    int widthFrom = at;
    while (at < spec.length() && Character.isDigit(spec.charAt(at))) {
      at++;
    }
    int width = integer(spec, widthFrom, at);
    char grouping = NONE;
    if (at < spec.length() && spec.charAt(at) == ',') {
      grouping = ',';
      at++;
    }
    if (at < spec.length() && spec.charAt(at) == '_') {
      if (grouping != NONE) {
        throw PyError.value("Cannot specify both ',' and '_'.");
      }
      grouping = '_';
      at++;
    }
    if (at < spec.length() && spec.charAt(at) == ',' && grouping != NONE) {
      throw PyError.value(
          grouping == ',' ? "Cannot specify ',' with ','." : "Cannot specify both ',' and '_'.");
    }
    int precision = -1;
    if (at < spec.length() && spec.charAt(at) == '.') {
      int from = ++at;
      while (at < spec.length() && Character.isDigit(spec.charAt(at))) {
        at++;
      }
      precision = integer(spec, from, at);
      if (precision < 0) {
        throw PyError.value("Format specifier missing precision");
      }
    }
    if (spec.length() - at > 1) {
      throw PyError.value("Invalid format specifier");
    }
    char type = at < spec.length() ? spec.charAt(at) : NONE;
    if (grouping != NONE) {
      checkGrouping(grouping, type, typeName);
    }
    return new FormatSpec(
        fill,
        align,
        explicitAlign,
        sign,
        noNegativeZero,
        alternate,
        width,
        grouping,
        precision,
        type);
  }

  private static void checkGrouping(char grouping, char type, String typeName) {
    boolean allowed =
        switch (type) {
          case 'd', 'e', 'f', 'g', 'E', 'G', '%', 'F' -> true;
          case NONE -> !typeName.equals("str") && !typeName.equals("Markup");
          case 'b', 'o', 'x', 'X' -> grouping == '_';
          default -> false;
        };
    if (!allowed) {
      throw PyError.value(
          "Cannot specify '" + grouping + "' with '" + (type == NONE ? 's' : type) + "'.");
    }
  }

  private static int integer(String spec, int from, int to) {
    if (from == to) {
      return -1;
    }
    long n = 0;
    for (int i = from; i < to; i++) {
      n = n * 10 + Character.digit(spec.charAt(i), 10);
      if (n > Integer.MAX_VALUE) {
        throw PyError.value("Too many decimal digits in format string");
      }
    }
    return (int) n;
  }

  private static boolean isAlign(char c) {
    return c == '<' || c == '>' || c == '=' || c == '^';
  }

  private static PyError unknownCode(char type, String typeName) {
    return PyError.value(
        "Unknown format code '" + type + "' for object of type '" + typeName + "'");
  }

  private String formatString(String s) {
    if (type != NONE && type != 's') {
      throw unknownCode(type, "str");
    }
    if (sign != NONE) {
      throw PyError.value(
          sign == ' '
              ? "Space not allowed in string format specifier"
              : "Sign not allowed in string format specifier");
    }
    if (noNegativeZero) {
      throw PyError.value("Negative zero coercion (z) not allowed in string format specifier");
    }
    if (alternate) {
      throw PyError.value("Alternate form (#) not allowed in string format specifier");
    }
    if (align == '=' && explicitAlign) {
      throw PyError.value("'=' alignment not allowed in string format specifier");
    }
    String shown =
        precision >= 0 && Text.length(s) > precision ? Text.substring(s, 0, precision) : s;
    return pad("", shown, Text.length(shown));
  }

  private String formatInt(Object value) {
    String typeName = value instanceof Boolean ? "bool" : "int";
    switch (type) {
      case 'e', 'E', 'f', 'F', 'g', 'G', '%' -> {
        return formatFloat(Numbers.asDouble(value), typeName);
      }
      case NONE, 'b', 'c', 'd', 'n', 'o', 'x', 'X' -> {}
      default -> throw unknownCode(type, typeName);
    }
    if (precision >= 0) {
      throw PyError.value("Precision not allowed in integer format specifier");
    }
    if (noNegativeZero) {
      throw PyError.value(
          "Negative zero coercion (z) not allowed in format specifier with integer presentation"
              + " type");
    }
    BigInteger n = Numbers.asBig(value);
    if (type == 'c') {
      if (sign != NONE) {
        throw PyError.value("Sign not allowed with integer format specifier 'c'");
      }
      if (alternate) {
        throw PyError.value("Alternate form (#) not allowed with integer format specifier 'c'");
      }
      if (n.signum() < 0 || n.bitLength() > 21 || n.intValue() > Character.MAX_CODE_POINT) {
        throw PyError.overflow("%c arg not in range(0x110000)");
      }
      return pad("", Character.toString(n.intValue()), 1);
    }
    String prefix = "";
    String digits;
    switch (type) {
      case 'b' -> {
        digits = n.abs().toString(2);
        prefix = "0b";
      }
      case 'o' -> {
        digits = n.abs().toString(8);
        prefix = "0o";
      }
      case 'x', 'X' -> {
        digits = n.abs().toString(16);
        prefix = "0x";
      }
      default -> digits = Numbers.text(n.abs());
    }
    if (type == 'X') {
      digits = digits.toUpperCase(Locale.ROOT);
      prefix = "0X";
    }
    return assemble(
        n.signum() < 0, alternate ? prefix : "", digits, "", type == 'd' || type == NONE ? 3 : 4);
  }

  private String formatFloat(double d, String typeName) {
    String s;
    boolean percent = false;
    int p = precision < 0 ? 6 : precision;
    switch (type) {
      case NONE ->
          s = precision < 0 ? FloatText.repr(d) : withPoint(FloatText.general(d, p, alternate, 1));
      case 'e', 'E' -> s = FloatText.scientific(d, p, alternate);
      case 'f', 'F' -> s = FloatText.fixed(d, p, alternate);
      case 'g', 'G', 'n' -> s = FloatText.general(d, p, alternate);
      case '%' -> {
        s = FloatText.fixed(d * 100, p, alternate);
        percent = true;
      }
      default -> throw unknownCode(type, typeName);
    }
    if (type == 'E' || type == 'F' || type == 'G') {
      s = s.toUpperCase(Locale.ROOT);
    }
    boolean negative = s.startsWith("-");
    String body = negative ? s.substring(1) : s;
    if (noNegativeZero && negative && body.chars().noneMatch(c -> c >= '1' && c <= '9')) {
      negative = false;
    }
    int end = 0;
    while (end < body.length() && Character.isDigit(body.charAt(end))) {
      end++;
    }
    return assemble(
        negative, "", body.substring(0, end), body.substring(end) + (percent ? "%" : ""), 3);
  }

  private static String withPoint(String s) {
    return s.indexOf('.') < 0 && s.indexOf('e') < 0 && !s.endsWith("f") && !s.endsWith("n")
        ? s + ".0"
        : s;
  }

  private String assemble(
      boolean negative, String prefix, String digits, String rest, int groupSize) {
    String signText = negative ? "-" : sign == '+' ? "+" : sign == ' ' ? " " : "";
    String shown = digits;
    if (grouping != NONE && !digits.isEmpty()) {
      int minimum =
          fill.equals("0") && align == '='
              ? width - signText.length() - prefix.length() - rest.length()
              : 0;
      shown = group(digits, groupSize, minimum);
    }
    return pad(signText + prefix, shown + rest, shown.length() + rest.length());
  }

  private String group(String digits, int groupSize, int minimum) {
    StringBuilder sb = new StringBuilder();
    int taken = 0;
    for (int i = digits.length() - 1; i >= 0 || sb.length() < minimum; i--) {
      if (taken > 0 && taken % groupSize == 0) {
        sb.append(grouping);
      }
      sb.append(i >= 0 ? digits.charAt(i) : '0');
      taken++;
    }
    return sb.reverse().toString();
  }

  private String pad(String head, String body, int bodyLength) {
    int padding = Math.max(width - head.length() - bodyLength, 0);
    int before =
        switch (align) {
          case '>' -> padding;
          case '^' -> padding / 2;
          default -> 0;
        };
    if (align == '=') {
      return head + fill.repeat(padding) + body;
    }
    return fill.repeat(before) + head + body + fill.repeat(padding - before);
  }
}
