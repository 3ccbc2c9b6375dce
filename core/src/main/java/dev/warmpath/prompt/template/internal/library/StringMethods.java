package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyBytes;
import dev.warmpath.prompt.template.internal.python.PyDict;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Text;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The methods of {@code str}. */
final class StringMethods {
  private static final Map<String, BoundMethod.Method> METHODS = new HashMap<>();

  private StringMethods() {}

  static BoundMethod.@Nullable Method get(String name) {
    return METHODS.get(name);
  }

  private interface Body {
    Object call(Rendering r, String s, Args args);
  }

  private interface Change {
    String of(String s);
  }

  private static void define(String name, Body body) {
    METHODS.put(name, (r, self, args) -> body.call(r, Py.text(self), args));
  }

  private static void change(String name, Change change) {
    String qualifiedName = "str." + name;
    define(
        name,
        (r, s, args) -> {
          Parameters.none(qualifiedName, args);
          String changed = change.of(s);
          r.chargeChars(changed.length());
          return changed;
        });
  }

  private static void question(String name, java.util.function.Predicate<String> question) {
    String qualifiedName = "str." + name;
    define(
        name,
        (r, s, args) -> {
          Parameters.none(qualifiedName, args);
          r.charge(s.length() / 16);
          return question.test(s);
        });
  }

  private static java.util.function.Predicate<String> all(IntPredicate predicate) {
    return s -> !s.isEmpty() && s.codePoints().allMatch(predicate);
  }

  static {
    change("lower", Text::lower);
    change("upper", Text::upper);
    change("capitalize", Text::capitalize);
    change("title", Text::title);
    change("swapcase", Text::swapCase);
    change("casefold", StringMethods::caseFold);

    question("isalnum", all(cp -> Text.isAlpha(cp) || Text.isDigit(cp) || Text.isNumeric(cp)));
    question("isalpha", all(Text::isAlpha));
    question("isascii", s -> s.chars().allMatch(c -> c < 0x80));
    question("isdecimal", all(Text::isDecimal));
    question("isdigit", all(Text::isDigit));
    question("isnumeric", all(cp -> Text.isNumeric(cp) || Text.isDigit(cp)));
    question("isidentifier", Text::isIdentifier);
    question("islower", StringMethods::isLower);
    question("isupper", StringMethods::isUpper);
    question("isprintable", s -> s.codePoints().allMatch(Text::isPrintable));
    question("isspace", all(Text::isSpace));
    question("istitle", StringMethods::isTitle);

    define("strip", (r, s, args) -> strip("strip", s, args, true, true));
    define("lstrip", (r, s, args) -> strip("lstrip", s, args, true, false));
    define("rstrip", (r, s, args) -> strip("rstrip", s, args, false, true));
    define("split", (r, s, args) -> split(r, "split", s, args));
    define("rsplit", (r, s, args) -> split(r, "rsplit", s, args));
    define("splitlines", StringMethods::splitLines);
    define(
        "partition", (r, s, args) -> partition(r, s, Parameters.one("str.partition", args), false));
    define(
        "rpartition",
        (r, s, args) -> partition(r, s, Parameters.one("str.rpartition", args), true));
    define("join", StringMethods::join);
    define("replace", StringMethods::replace);
    define("startswith", (r, s, args) -> affix(r, "startswith", s, args));
    define("endswith", (r, s, args) -> affix(r, "endswith", s, args));
    define(
        "removeprefix",
        (r, s, args) -> {
          String prefix =
              Parameters.text("removeprefix", Parameters.one("str.removeprefix", args), 0);
          return s.startsWith(prefix) ? s.substring(prefix.length()) : s;
        });
    define(
        "removesuffix",
        (r, s, args) -> {
          String suffix =
              Parameters.text("removesuffix", Parameters.one("str.removesuffix", args), 0);
          return s.endsWith(suffix) ? s.substring(0, s.length() - suffix.length()) : s;
        });
    define("find", (r, s, args) -> find(r, "find", s, args));
    define("rfind", (r, s, args) -> find(r, "rfind", s, args));
    define("index", (r, s, args) -> found(find(r, "index", s, args)));
    define("rindex", (r, s, args) -> found(find(r, "rindex", s, args)));
    define("count", StringMethods::count);
    define("center", (r, s, args) -> justify(r, "center", s, args));
    define("ljust", (r, s, args) -> justify(r, "ljust", s, args));
    define("rjust", (r, s, args) -> justify(r, "rjust", s, args));
    define("zfill", StringMethods::zeroFill);
    define("expandtabs", StringMethods::expandTabs);
    define("encode", StringMethods::encode);
    define("maketrans", StringMethods::makeTranslation);
    define("translate", StringMethods::translate);
    define("format", (r, s, args) -> BraceFormat.format(r, s, args));
    define("format_map", (r, s, args) -> BraceFormat.formatMap(r, s, args));
  }

  private static String caseFold(String s) {
    StringBuilder sb = new StringBuilder(s.length());
    s.codePoints()
        .forEach(
            cp -> {
              // Cherokee folds to capitals; the rest to the lower case of the upper case
              if (cp >= 0x13a0 && cp <= 0x13f5) {
                sb.appendCodePoint(cp);
              } else if ((cp >= 0x13f8 && cp <= 0x13fd) || (cp >= 0xab70 && cp <= 0xabbf)) {
                sb.append(Text.upper(Character.toString(cp)));
              } else if (cp == 0x1e9e) {
                sb.append("ss");
              } else if (cp == 0x130) {
                sb.append("i\u0307");
              } else if (cp == 0x131) {
                sb.append('\u0131');
              } else {
                Text.upper(Character.toString(cp))
                    .codePoints()
                    .forEach(upper -> sb.appendCodePoint(Character.toLowerCase(upper)));
              }
            });
    return sb.toString();
  }

  private static boolean isLower(String s) {
    return s.codePoints().noneMatch(cp -> Character.isUpperCase(cp) || Character.isTitleCase(cp))
        && s.codePoints().anyMatch(Character::isLowerCase);
  }

  private static boolean isUpper(String s) {
    return s.codePoints().noneMatch(cp -> Character.isLowerCase(cp) || Character.isTitleCase(cp))
        && s.codePoints().anyMatch(Character::isUpperCase);
  }

  private static boolean isTitle(String s) {
    boolean cased = false;
    boolean previousCased = false;
    for (int i = 0; i < s.length(); ) {
      int cp = s.codePointAt(i);
      i += Character.charCount(cp);
      if (Character.isUpperCase(cp) || Character.isTitleCase(cp)) {
        if (previousCased) {
          return false;
        }
        previousCased = true;
        cased = true;
      } else if (Character.isLowerCase(cp)) {
        if (!previousCased) {
          return false;
        }
        cased = true;
      } else {
        previousCased = false;
      }
    }
    return cased;
  }

  private static Object strip(String name, String s, Args args, boolean left, boolean right) {
    Object chars = Parameters.positional("str." + name, args, 0, 1)[0];
    if (chars == Missing.MISSING || chars == PyNone.NONE) {
      String stripped = left ? Text.stripLeft(s) : s;
      return right ? Text.stripRight(stripped) : stripped;
    }
    if (!Py.isString(chars)) {
      throw PyError.type(name + " arg must be None or str");
    }
    return strip(s, Py.text(chars), left, right);
  }

  /** Without the characters of a set at the ends. */
  static String strip(String s, String chars, boolean left, boolean right) {
    int from = 0;
    int to = s.length();
    while (left && from < to && chars.indexOf(s.codePointAt(from)) >= 0) {
      from += Character.charCount(s.codePointAt(from));
    }
    while (right && from < to && chars.indexOf(s.codePointBefore(to)) >= 0) {
      to -= Character.charCount(s.codePointBefore(to));
    }
    return s.substring(from, to);
  }

  private static Object split(Rendering r, String name, String s, Args args) {
    Object[] values = Parameters.named(name, args, "sep", "maxsplit");
    Object separator = values[0];
    int most = Parameters.integer(values[1], -1);
    if (most < 0) {
      most = Integer.MAX_VALUE;
    }
    boolean fromRight = name.startsWith("r");
    List<Object> parts;
    if (separator == Missing.MISSING || separator == PyNone.NONE) {
      parts = fromRight ? splitSpaceFromRight(s, most) : splitSpace(s, most);
    } else if (!Py.isString(separator)) {
      throw PyError.type("must be str or None, not " + Py.typeName(separator));
    } else if (Py.text(separator).isEmpty()) {
      throw PyError.value("empty separator");
    } else {
      parts =
          fromRight
              ? splitFromRight(r, s, Py.text(separator), most)
              : split(r, s, Py.text(separator), most);
    }
    r.charge(parts.size());
    r.chargeChars(s.length());
    return parts;
  }

  private static List<Object> splitSpace(String s, int most) {
    List<Object> parts = new ArrayList<>();
    int at = 0;
    while (true) {
      while (at < s.length() && Text.isSpace(s.charAt(at))) {
        at++;
      }
      if (at == s.length()) {
        return parts;
      }
      if (parts.size() == most) {
        parts.add(s.substring(at));
        return parts;
      }
      int from = at;
      while (at < s.length() && !Text.isSpace(s.charAt(at))) {
        at++;
      }
      parts.add(s.substring(from, at));
    }
  }

  private static List<Object> splitSpaceFromRight(String s, int most) {
    List<Object> parts = new ArrayList<>();
    int at = s.length();
    while (true) {
      while (at > 0 && Text.isSpace(s.charAt(at - 1))) {
        at--;
      }
      if (at == 0) {
        break;
      }
      if (parts.size() == most) {
        parts.add(s.substring(0, at));
        break;
      }
      int to = at;
      while (at > 0 && !Text.isSpace(s.charAt(at - 1))) {
        at--;
      }
      parts.add(s.substring(at, to));
    }
    java.util.Collections.reverse(parts);
    return parts;
  }

  private static List<Object> split(Rendering r, String s, String separator, int most) {
    List<Object> parts = new ArrayList<>();
    int from = 0;
    while (parts.size() < most) {
      int found = Text.indexOf(r, s, separator, from);
      if (found < 0) {
        break;
      }
      parts.add(s.substring(from, found));
      from = found + separator.length();
    }
    parts.add(s.substring(from));
    return parts;
  }

  private static List<Object> splitFromRight(Rendering r, String s, String separator, int most) {
    List<Object> parts = new ArrayList<>();
    int to = s.length();
    while (parts.size() < most) {
      int found =
          to < separator.length() ? -1 : Text.lastIndexOf(r, s, separator, to - separator.length());
      if (found < 0) {
        break;
      }
      parts.add(s.substring(found + separator.length(), to));
      to = found;
    }
    parts.add(s.substring(0, to));
    java.util.Collections.reverse(parts);
    return parts;
  }

  private static Object splitLines(Rendering r, String s, Args args) {
    Object keepEnds = Parameters.named("splitlines", args, "keepends")[0];
    List<Object> lines = new ArrayList<>();
    lines.addAll(lines(s, keepEnds != Missing.MISSING && Py.isTrue(r, keepEnds)));
    r.charge(lines.size());
    r.chargeChars(s.length());
    return lines;
  }

  /** Python's {@code splitlines}. */
  static List<String> lines(String s, boolean keepEnds) {
    List<String> lines = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (Text.isLineBreak(c)) {
        int end = i;
        if (c == '\r' && i + 1 < s.length() && s.charAt(i + 1) == '\n') {
          i++;
        }
        lines.add(s.substring(from, keepEnds ? i + 1 : end));
        from = i + 1;
      }
    }
    if (from < s.length()) {
      lines.add(s.substring(from));
    }
    return lines;
  }

  private static Object partition(Rendering r, String s, Object argument, boolean last) {
    String separator = Parameters.text(argument);
    if (separator.isEmpty()) {
      throw PyError.value("empty separator");
    }
    r.chargeChars(s.length());
    int found =
        last ? Text.lastIndexOf(r, s, separator, s.length()) : Text.indexOf(r, s, separator, 0);
    if (found < 0) {
      return last ? new PyTuple("", "", s) : new PyTuple(s, "", "");
    }
    return new PyTuple(s.substring(0, found), separator, s.substring(found + separator.length()));
  }

  private static Object join(Rendering r, String s, Args args) {
    Object iterable = Parameters.one("str.join", args);
    if (!Py.isIterable(iterable)) {
      throw PyError.type("can only join an iterable");
    }
    StringBuilder joined = new StringBuilder();
    int index = 0;
    for (Iterator<Object> it = Py.iterate(r, iterable); it.hasNext(); index++) {
      Object part = it.next();
      r.charge();
      if (!Py.isString(part)) {
        throw PyError.type(
            "sequence item " + index + ": expected str instance, " + Py.typeName(part) + " found");
      }
      if (index > 0) {
        joined.append(s);
      }
      joined.append(Py.text(part));
      if (joined.length() > r.maxLength()) {
        r.chargeChars(joined.length());
      }
    }
    r.chargeChars(joined.length());
    return joined.toString();
  }

  private static Object replace(Rendering r, String s, Args args) {
    Object[] values = Parameters.positional("str.replace", args, 2, 3);
    String old = Parameters.text("replace", values[0], 1);
    String replacement = Parameters.text("replace", values[1], 2);
    return replace(r, s, old, replacement, Parameters.integer(values[2], -1));
  }

  /** Python's {@code str.replace}; a negative count is no bound. */
  static String replace(Rendering r, String s, String old, String replacement, int count) {
    int most = count < 0 ? Integer.MAX_VALUE : count;
    if (most == 0) {
      return s;
    }
    if (old.isEmpty()) {
      return interleave(r, s, replacement, most);
    }
    int found = Text.indexOf(r, s, old, 0);
    if (found < 0) {
      return s;
    }
    StringBuilder sb = new StringBuilder(s.length() + 16);
    int from = 0;
    for (int n = 0; found >= 0 && n < most; n++) {
      sb.append(s, from, found).append(replacement);
      if (sb.length() > r.maxLength()) {
        r.chargeChars(sb.length());
      }
      from = found + old.length();
      found = Text.indexOf(r, s, old, from);
    }
    sb.append(s, from, s.length());
    r.chargeChars(sb.length());
    return sb.toString();
  }

  private static String interleave(Rendering r, String s, String inserted, int most) {
    r.chargeChars(s.length() + (long) inserted.length() * Math.min(most, Text.length(s) + 1));
    StringBuilder sb = new StringBuilder();
    int left = most;
    int at = 0;
    while (left > 0) {
      sb.append(inserted);
      left--;
      if (at == s.length()) {
        return sb.toString();
      }
      int next = s.offsetByCodePoints(at, 1);
      sb.append(s, at, next);
      at = next;
    }
    return sb.append(s, at, s.length()).toString();
  }

  /** The part of a string between two bounds, and where it begins. */
  private record Window(String text, int start, boolean valid) {
    static Window of(String s, Object from, Object to) {
      if (from == Missing.MISSING && to == Missing.MISSING) {
        return new Window(s, 0, true);
      }
      int length = Text.length(s);
      long start = clip(Parameters.bound(from, 0), length);
      long stop = Math.min(clip(Parameters.bound(to, length), length), length);
      return start > stop
          ? new Window("", (int) Math.min(start, length), false)
          : new Window(Text.substring(s, (int) start, (int) stop), (int) start, true);
    }

    private static long clip(long index, int length) {
      return index < 0 ? Math.max(index + length, 0) : index;
    }
  }

  private static Object affix(Rendering r, String name, String s, Args args) {
    Object[] values = Parameters.counted(name, args, 1, 3);
    Window window = Window.of(s, values[1], values[2]);
    Object affix = values[0];
    if (affix instanceof PyTuple tuple) {
      for (Object each : tuple) {
        r.charge();
        if (!Py.isString(each)) {
          throw PyError.type(
              "tuple for " + name + " must only contain str, not " + Py.typeName(each));
        }
        if (matches(name, window, Py.text(each))) {
          return true;
        }
      }
      return false;
    }
    if (!Py.isString(affix)) {
      throw PyError.type(
          name + " first arg must be str or a tuple of str, not " + Py.typeName(affix));
    }
    return matches(name, window, Py.text(affix));
  }

  private static boolean matches(String name, Window window, String affix) {
    return window.valid
        && (name.equals("startswith")
            ? window.text.startsWith(affix)
            : window.text.endsWith(affix));
  }

  private static long find(Rendering r, String name, String s, Args args) {
    Object[] values = Parameters.counted(name, args, 1, 3);
    String part = Parameters.text(values[0]);
    Window window = Window.of(s, values[1], values[2]);
    if (!window.valid) {
      return -1;
    }
    int found =
        name.startsWith("r")
            ? Text.lastIndexOf(r, window.text, part, window.text.length())
            : Text.indexOf(r, window.text, part, 0);
    return found < 0 ? -1 : window.start + window.text.codePointCount(0, found);
  }

  private static Object found(long index) {
    if (index < 0) {
      throw PyError.value("substring not found");
    }
    return index;
  }

  private static Object count(Rendering r, String s, Args args) {
    Object[] values = Parameters.counted("count", args, 1, 3);
    String part = Parameters.text(values[0]);
    Window window = Window.of(s, values[1], values[2]);
    if (!window.valid) {
      return 0L;
    }
    if (part.isEmpty()) {
      return Text.length(window.text) + 1L;
    }
    long count = 0;
    for (int i = Text.indexOf(r, window.text, part, 0);
        i >= 0;
        i = Text.indexOf(r, window.text, part, i + part.length())) {
      count++;
    }
    return count;
  }

  private static Object justify(Rendering r, String name, String s, Args args) {
    Object[] values = Parameters.positional("str." + name, args, 1, 2);
    int width = Numbers.size(values[0]);
    String fill = " ";
    if (values[1] != Missing.MISSING) {
      if (!Py.isString(values[1])) {
        throw PyError.type(
            "The fill character must be a unicode character, not " + Py.typeName(values[1]));
      }
      fill = Py.text(values[1]);
      if (Text.length(fill) != 1) {
        throw PyError.type("The fill character must be exactly one character long");
      }
    }
    return switch (name) {
      case "center" -> center(r, s, width, fill);
      case "ljust" -> pad(r, s, 0, width - Text.length(s), fill);
      default -> pad(r, s, width - Text.length(s), 0, fill);
    };
  }

  /** Python's {@code str.center}. */
  static String center(Rendering r, String s, int width, String fill) {
    int padding = Math.max(width - Text.length(s), 0);
    // where it does not come out even, the odd character goes left if the width is odd
    int left = padding / 2 + (padding & width & 1);
    return pad(r, s, left, padding - left, fill);
  }

  private static String pad(Rendering r, String s, int left, int right, String fill) {
    r.chargeChars((long) s.length() + Math.max(left, 0) + Math.max(right, 0));
    return fill.repeat(Math.max(left, 0)) + s + fill.repeat(Math.max(right, 0));
  }

  private static Object zeroFill(Rendering r, String s, Args args) {
    int width = Numbers.size(Parameters.one("str.zfill", args));
    int zeros = width - Text.length(s);
    if (zeros <= 0) {
      return s;
    }
    r.chargeChars(zeros);
    boolean sign = s.startsWith("+") || s.startsWith("-");
    return (sign ? s.substring(0, 1) : "") + "0".repeat(zeros) + (sign ? s.substring(1) : s);
  }

  private static Object expandTabs(Rendering r, String s, Args args) {
    int size = Parameters.integer(Parameters.named("expandtabs", args, "tabsize")[0], 8);
    StringBuilder sb = new StringBuilder();
    int column = 0;
    for (int i = 0; i < s.length(); ) {
      int cp = s.codePointAt(i);
      i += Character.charCount(cp);
      if (cp == '\t') {
        if (size > 0) {
          int spaces = size - column % size;
          r.chargeChars(sb.length() / 64 + spaces);
          sb.append(" ".repeat(spaces));
          column += spaces;
        }
      } else {
        column = cp == '\n' || cp == '\r' ? 0 : column + 1;
        sb.appendCodePoint(cp);
      }
    }
    r.chargeChars(sb.length());
    return sb.toString();
  }

  private static Object encode(Rendering r, String s, Args args) {
    Object[] values = Parameters.named("encode", args, "encoding", "errors");
    String encoding =
        values[0] == Missing.MISSING ? "utf-8" : Parameters.text("encode", values[0], 1);
    String normal = encoding.toLowerCase(Locale.ROOT).replace('_', '-');
    Charset charset =
        switch (normal) {
          case "utf-8", "utf8" -> StandardCharsets.UTF_8;
          case "ascii", "us-ascii" -> StandardCharsets.US_ASCII;
          case "latin-1", "latin1", "iso-8859-1" -> StandardCharsets.ISO_8859_1;
          default -> throw PyError.of("LookupError", "unknown encoding: " + encoding);
        };
    r.chargeChars(s.length() * 2L);
    if (!charset.newEncoder().canEncode(s)) {
      throw PyError.of("UnicodeEncodeError", "'" + normal + "' codec can't encode characters");
    }
    return new PyBytes(s.getBytes(charset));
  }

  private static Object makeTranslation(Rendering r, String s, Args args) {
    Object[] values = Parameters.positional("maketrans", args, 1, 3);
    PyDict table = new PyDict();
    if (values[1] == Missing.MISSING) {
      if (!(values[0] instanceof Map<?, ?> map)) {
        throw PyError.type("if you give only one argument to maketrans it must be a dict");
      }
      for (Map.Entry<?, ?> e : map.entrySet()) {
        Object key = Py.in(e.getKey());
        if (Py.isString(key)) {
          if (Text.length(Py.text(key)) != 1) {
            throw PyError.value("string keys in translate table must be of length 1");
          }
          key = (long) Py.text(key).codePointAt(0);
        } else if (!Numbers.isIntegral(key)) {
          throw PyError.type("keys in translate table must be strings or integers");
        }
        table.set(r, key, Py.in(e.getValue()));
      }
      return table;
    }
    String from = Parameters.text("maketrans", values[0], 1);
    String to = Parameters.text("maketrans", values[1], 2);
    if (Text.length(from) != Text.length(to)) {
      throw PyError.value("the first two maketrans arguments must have equal length");
    }
    int[] keys = from.codePoints().toArray();
    int[] targets = to.codePoints().toArray();
    for (int i = 0; i < keys.length; i++) {
      table.set(r, (long) keys[i], (long) targets[i]);
    }
    if (values[2] != Missing.MISSING) {
      Parameters.text("maketrans", values[2], 3)
          .codePoints()
          .forEach(cp -> table.set(r, (long) cp, PyNone.NONE));
    }
    return table;
  }

  private static Object translate(Rendering r, String s, Args args) {
    Object table = Parameters.one("str.translate", args);
    if (!Py.isSubscriptable(table)) {
      throw PyError.type("'" + Py.typeName(table) + "' object is not subscriptable");
    }
    StringBuilder sb = new StringBuilder(s.length());
    for (int i = 0; i < s.length(); ) {
      int cp = s.codePointAt(i);
      i += Character.charCount(cp);
      r.charge();
      Object mapped = Py.item(r, table, (long) cp);
      if (mapped == Missing.MISSING) {
        sb.appendCodePoint(cp);
      } else if (Py.isString(mapped)) {
        sb.append(Py.text(mapped));
      } else if (Numbers.isIntegral(mapped)) {
        long code = Numbers.index(mapped);
        if (code < 0 || code > Character.MAX_CODE_POINT) {
          throw PyError.value("character mapping must be in range(0x110000)");
        }
        sb.appendCodePoint((int) code);
      } else if (mapped != PyNone.NONE) {
        throw PyError.type("character mapping must return integer, None or str");
      }
      if (sb.length() > r.maxLength()) {
        r.chargeChars(sb.length());
      }
    }
    r.chargeChars(sb.length());
    return sb.toString();
  }
}
