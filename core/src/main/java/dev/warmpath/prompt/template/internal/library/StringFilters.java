package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyDict;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Text;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Filters over text. */
final class StringFilters {
  private StringFilters() {}

  private interface Change {
    String of(Rendering r, String s);
  }

  static void define(Map<String, Function> filters) {
    change(filters, "upper", "do_upper", (r, s) -> Text.upper(s));
    change(filters, "lower", "do_lower", (r, s) -> Text.lower(s));
    change(filters, "capitalize", "do_capitalize", (r, s) -> Text.capitalize(s));
    change(filters, "title", "do_title", (r, s) -> title(s));
    filters.put(
        "string", Function.builtIn("soft_str", (r, s) -> s instanceof Markup ? s : Py.str(r, s)));
    filters.put(
        "center",
        Function.python(
            "do_center",
            0,
            "value, width=80",
            (r, v) ->
                like(v[0], StringMethods.center(r, Py.str(r, v[0]), Numbers.size(v[1]), " "))));
    filters.put("trim", Function.python("do_trim", 0, "value, chars=None", StringFilters::trim));
    filters.put(
        "replace",
        Function.python("do_replace", 1, "s, old, new, count=None", StringFilters::replace));
    filters.put(
        "indent",
        Function.python(
            "do_indent", 0, "s, width=4, first=False, blank=False", StringFilters::indent));
    filters.put(
        "truncate",
        Function.python(
            "do_truncate",
            1,
            "s, length=255, killwords=False, end='...', leeway=None",
            StringFilters::truncate));
    filters.put(
        "wordwrap",
        Function.python(
            "do_wordwrap",
            1,
            "s, width=79, break_long_words=True, wrapstring=None, break_on_hyphens=True",
            StringFilters::wordWrap));
    filters.put(
        "wordcount",
        Function.python("do_wordcount", 0, "s", (r, v) -> countWords(r, Py.str(r, v[0]))));
    filters.put("format", Function.raw("do_format", StringFilters::format));
  }

  private static void change(
      Map<String, Function> filters, String name, String function, Change change) {
    filters.put(
        name,
        Function.python(
            function,
            0,
            "s",
            (r, v) -> {
              String changed = change.of(r, Py.str(r, v[0]));
              r.chargeChars(changed.length());
              return like(v[0], changed);
            }));
  }

  /** Marked as safe where the original was. */
  private static Object like(Object original, String s) {
    return original instanceof Markup ? new Markup(s) : s;
  }

  private static String title(String s) {
    StringBuilder sb = new StringBuilder(s.length());
    int at = 0;
    while (at < s.length()) {
      int from = at;
      boolean separator = isWordSeparator(s.charAt(at));
      while (at < s.length() && isWordSeparator(s.charAt(at)) == separator) {
        at++;
      }
      int second = s.offsetByCodePoints(from, 1);
      sb.append(Text.upper(s.substring(from, second))).append(Text.lower(s.substring(second, at)));
    }
    return sb.toString();
  }

  private static boolean isWordSeparator(char c) {
    return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || Text.isSpace(c);
  }

  private static Object trim(Rendering r, Object[] v) {
    String s = Py.str(r, v[0]);
    if (v[1] == PyNone.NONE) {
      return like(v[0], Text.strip(s));
    }
    if (!Py.isString(v[1])) {
      throw PyError.type("strip arg must be None or str");
    }
    return like(v[0], StringMethods.strip(s, Py.text(v[1]), true, true));
  }

  private static Object replace(Rendering r, Object[] v) {
    int count = v[3] == PyNone.NONE ? -1 : Numbers.size(v[3]);
    if (!r.autoescape()) {
      return StringMethods.replace(r, Py.str(r, v[0]), Py.str(r, v[1]), Py.str(r, v[2]), count);
    }
    boolean escape =
        v[1] instanceof Markup || (v[2] instanceof Markup && !(v[0] instanceof Markup));
    Object s = escape ? Markup.escape(r, v[0]) : v[0];
    boolean safe = s instanceof Markup;
    String replacement = safe ? Markup.escape(r, v[2]).text() : Py.str(r, v[2]);
    return like(s, StringMethods.replace(r, Py.str(r, s), Py.str(r, v[1]), replacement, count));
  }

  private static Object indent(Rendering r, Object[] v) {
    Object width = v[1];
    String indention =
        Py.isString(width) ? Py.text(width) : Py.text(Arithmetic.multiply(r, " ", width));
    if (v[0] instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (v[0] instanceof List && !(v[0] instanceof PyTuple)) {
      throw PyError.of("AttributeError", "'list' object has no attribute 'splitlines'");
    }
    if (!Py.isString(v[0])) {
      throw v[0] instanceof PyTuple
          ? PyError.type("can only concatenate tuple (not \"str\") to tuple")
          : PyError.type(
              "unsupported operand type(s) for +=: '" + Py.typeName(v[0]) + "' and 'str'");
    }
    if (v[0] instanceof Markup) {
      indention = Py.isString(width) ? Markup.escapeText(r, indention) : indention;
    }
    boolean first = Py.isTrue(r, v[2]);
    boolean blank = Py.isTrue(r, v[3]);
    StringBuilder sb = new StringBuilder();
    boolean firstLine = true;
    for (String line : StringMethods.lines(Py.text(v[0]) + "\n", false)) {
      if (!firstLine) {
        sb.append('\n');
      }
      if (firstLine ? first : blank || !line.isEmpty()) {
        sb.append(indention);
      }
      sb.append(line);
      firstLine = false;
      if (sb.length() > r.maxLength()) {
        r.chargeChars(sb.length());
      }
    }
    r.chargeChars(sb.length());
    return like(v[0], sb.toString());
  }

  private static Object truncate(Rendering r, Object[] v) {
    long leeway = v[4] == PyNone.NONE ? 5 : comparable(v[4]);
    long length = comparable(v[1]);
    int endLength = Py.length(r, v[3]);
    if (length < endLength) {
      throw PyError.of(
          "AssertionError", "expected length >= " + endLength + ", got " + Repr.of(r, v[1]));
    }
    if (leeway < 0) {
      throw PyError.of("AssertionError", "expected leeway >= 0, got " + Repr.of(r, v[4]));
    }
    if (Py.length(r, v[0]) <= length + leeway) {
      return v[0];
    }
    Object cut =
        Py.slice(r, v[0], PyNone.NONE, Arithmetic.subtract(r, v[1], (long) endLength), PyNone.NONE);
    if (Py.isTrue(r, v[2])) {
      return Arithmetic.add(r, cut, v[3]);
    }
    if (!Py.isString(cut)) {
      throw PyError.of(
          "AttributeError", "'" + Py.typeName(cut) + "' object has no attribute 'rsplit'");
    }
    String s = Py.text(cut);
    int space = s.lastIndexOf(' ');
    return Arithmetic.add(r, like(cut, space < 0 ? s : s.substring(0, space)), v[3]);
  }

  /** A bound that is compared with lengths. */
  private static long comparable(Object value) {
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (Numbers.isFloat(value)) {
      return (long) Numbers.asDouble(value);
    }
    if (!Numbers.isIntegral(value)) {
      throw PyError.type(
          "'>=' not supported between instances of '" + Py.typeName(value) + "' and 'int'");
    }
    return Math.max(Math.min(Numbers.index(value), Integer.MAX_VALUE), Integer.MIN_VALUE);
  }

  private static Object wordWrap(Rendering r, Object[] v) {
    String wrapString = v[3] == PyNone.NONE ? "\n" : Py.isString(v[3]) ? Py.text(v[3]) : "";
    if (v[3] != PyNone.NONE && !Py.isString(v[3])) {
      throw PyError.of(
          "AttributeError", "'" + Py.typeName(v[3]) + "' object has no attribute 'join'");
    }
    if (v[0] instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (!Py.isString(v[0])) {
      throw PyError.of(
          "AttributeError", "'" + Py.typeName(v[0]) + "' object has no attribute 'splitlines'");
    }
    TextWrapper wrapper = new TextWrapper(r, v[1], Py.isTrue(r, v[2]), Py.isTrue(r, v[4]));
    List<String> lines = new ArrayList<>();
    for (String line : StringMethods.lines(Py.text(v[0]), false)) {
      lines.add(String.join(wrapString, wrapper.wrap(line)));
    }
    String wrapped = String.join(wrapString, lines);
    r.chargeChars(wrapped.length());
    return wrapped;
  }

  private static Object countWords(Rendering r, String s) {
    r.charge(s.length() / 16);
    long words = 0;
    boolean inWord = false;
    for (int i = 0; i < s.length(); ) {
      int cp = s.codePointAt(i);
      i += Character.charCount(cp);
      boolean word = Text.isWord(cp);
      words += word && !inWord ? 1 : 0;
      inWord = word;
    }
    return words;
  }

  private static Object format(Rendering r, Args args) {
    if (args.count() == 0) {
      throw PyError.type("do_format() missing 1 required positional argument: 'value'");
    }
    Object value = args.get(0);
    Object format = value instanceof Markup ? value : Py.str(r, value);
    Args rest = args.from(1);
    if (rest.count() > 0 && !rest.keywords().isEmpty()) {
      throw PyError.filterArgument(
          "can't handle positional and keyword arguments at the same time");
    }
    if (rest.keywords().isEmpty()) {
      return Arithmetic.modulo(r, format, new PyTuple(rest.positional()));
    }
    PyDict named = new PyDict();
    rest.keywords().forEach(named::set);
    return Arithmetic.modulo(r, format, named);
  }
}
