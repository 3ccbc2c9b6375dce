package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.FormatSpec;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import java.util.Map;

/**
 * {@code str.format} as the sandbox runs it: the rules of {@code string.Formatter}, fields read as
 * a template reads.
 */
final class BraceFormat {
  private static final int NOT_YET = -1;
  private static final int MANUAL = -2;

  private final Rendering r;
  private final Object[] positional;
  private final Map<?, ?> named;

  /** Fields numbered so far, or one of the two marks. */
  private int automatic = NOT_YET;

  private final boolean escape;

  private BraceFormat(Rendering r, Object[] positional, Map<?, ?> named, boolean escape) {
    this.r = r;
    this.escape = escape;
    this.positional = positional;
    this.named = named;
  }

  static Object format(Rendering r, String format, Args args) {
    return new BraceFormat(r, args.positional(), args.keywords(), false).expand(format, 2);
  }

  /** Formats with the text of every field escaped. */
  static String formatEscaped(Rendering r, String format, Args args) {
    return new BraceFormat(r, args.positional(), args.keywords(), true).expand(format, 2);
  }

  static Object formatMap(Rendering r, String format, Args args) {
    if (!args.keywords().isEmpty()) {
      throw PyError.type("format_map() takes no keyword arguments");
    }
    if (args.count() != 1) {
      throw PyError.type("format_map() takes exactly one argument (" + args.count() + " given)");
    }
    if (!(args.get(0) instanceof Map<?, ?> map)) {
      throw PyError.type("'" + Py.typeName(args.get(0)) + "' object is not subscriptable");
    }
    return new BraceFormat(r, new Object[0], map, false).expand(format, 2);
  }

  private String expand(String format, int depth) {
    if (depth < 0) {
      throw PyError.value("Max string recursion exceeded");
    }
    StringBuilder out = new StringBuilder();
    int at = 0;
    while (at < format.length()) {
      char c = format.charAt(at++);
      if (c != '{' && c != '}') {
        out.append(c);
        continue;
      }
      boolean atEnd = at >= format.length();
      if (!atEnd && format.charAt(at) == c) {
        out.append(c);
        at++;
        continue;
      }
      if (c == '}') {
        throw PyError.value("Single '}' encountered in format string");
      }
      if (atEnd) {
        throw PyError.value("Single '{' encountered in format string");
      }
      at = field(format, at, out, depth);
      r.charge();
      r.chargeChars(out.length() / 64);
    }
    r.chargeChars(out.length());
    return out.toString();
  }

  /** Expands the field that begins at an offset and gives the offset behind it. */
  private int field(String format, int from, StringBuilder out, int depth) {
    int at = from;
    char end = '\0';
    scan:
    while (at < format.length()) {
      char c = format.charAt(at++);
      switch (c) {
        case '{' -> throw PyError.value("unexpected '{' in field name");
        case '[' -> {
          int close = format.indexOf(']', at);
          at = close < 0 ? format.length() : close;
        }
        case '}', ':', '!' -> {
          end = c;
          break scan;
        }
        default -> {}
      }
    }
    if (end == '\0') {
      throw PyError.value("expected '}' before end of string");
    }
    String name = format.substring(from, at - 1);
    char conversion = '\0';
    String spec = "";
    if (end == '!') {
      if (at >= format.length()) {
        throw PyError.value("end of string while looking for conversion specifier");
      }
      conversion = format.charAt(at++);
      if (at < format.length()) {
        end = format.charAt(at++);
        if (end != '}' && end != ':') {
          throw PyError.value("expected ':' after conversion specifier");
        }
      } else {
        throw PyError.value("unmatched '{' in format spec");
      }
    }
    if (end == ':') {
      int close = closingBrace(format, at);
      spec = format.substring(at, close);
      at = close + 1;
    }
    Object value = convert(value(name), conversion);
    String expanded = spec.isEmpty() ? spec : expand(spec, depth - 1);
    if (!escape) {
      out.append(FormatSpec.format(r, value, expanded));
    } else if (value instanceof Markup m) {
      if (!expanded.isEmpty()) {
        throw PyError.value("Unsupported format specification for Markup.");
      }
      out.append(m.text());
    } else {
      out.append(Markup.escapeText(r, FormatSpec.format(r, value, expanded)));
    }
    return at;
  }

  private static int closingBrace(String format, int from) {
    int open = 1;
    for (int i = from; i < format.length(); i++) {
      char c = format.charAt(i);
      open += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (open == 0) {
        return i;
      }
    }
    throw PyError.value("unmatched '{' in format spec");
  }

  private Object convert(Object value, char conversion) {
    return switch (conversion) {
      case '\0' -> value;
      case 's' -> Py.str(r, value);
      case 'r' -> Repr.of(r, value);
      case 'a' -> Repr.ascii(r, value);
      default -> throw PyError.value("Unknown conversion specifier " + conversion);
    };
  }

  private Object value(String field) {
    int at = 0;
    while (at < field.length() && field.charAt(at) != '.' && field.charAt(at) != '[') {
      at++;
    }
    String first = field.substring(0, at);
    if (field.isEmpty()) {
      if (automatic == MANUAL) {
        throw PyError.value(
            "cannot switch from manual field specification to automatic field numbering");
      }
      automatic = Math.max(automatic, 0);
      first = Integer.toString(automatic++);
    } else if (isNumber(field)) {
      if (automatic > 0) {
        throw PyError.value(
            "cannot switch from manual field specification to automatic field numbering");
      }
      automatic = MANUAL;
    }
    Object value = isNumber(first) ? positional(first) : named(first);
    while (at < field.length()) {
      if (field.charAt(at) == '.') {
        int from = ++at;
        while (at < field.length() && field.charAt(at) != '.' && field.charAt(at) != '[') {
          at++;
        }
        if (from == at) {
          throw PyError.value("Empty attribute in format string");
        }
        value = Access.attribute(r, value, field.substring(from, at));
      } else if (field.charAt(at) == '[') {
        int close = field.indexOf(']', at);
        if (close < 0) {
          throw PyError.value("Missing ']' in format string");
        }
        String key = field.substring(at + 1, close);
        if (key.isEmpty()) {
          throw PyError.value("Empty attribute in format string");
        }
        value =
            Access.item(
                r, value, isNumber(key) && key.length() < 18 ? (Object) Long.parseLong(key) : key);
        at = close + 1;
      } else {
        throw PyError.value("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  private static boolean isNumber(String s) {
    return !s.isEmpty() && s.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  private Object positional(String number) {
    int index = number.length() > 9 ? Integer.MAX_VALUE : Integer.parseInt(number);
    if (index >= positional.length) {
      throw PyError.of("IndexError", "tuple index out of range");
    }
    return positional[index];
  }

  private Object named(String name) {
    Object value = named.containsKey(name) ? Py.in(named.get(name)) : Missing.MISSING;
    if (value == Missing.MISSING) {
      throw PyError.of("KeyError", Repr.ofString(name));
    }
    return value;
  }
}
