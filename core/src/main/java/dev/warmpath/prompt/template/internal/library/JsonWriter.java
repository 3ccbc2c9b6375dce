package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.DictView;
import dev.warmpath.prompt.template.internal.python.FloatText;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import java.util.List;
import java.util.Map;

/** Python's {@code json.dumps}. */
final class JsonWriter {
  private static final String HEX = "0123456789abcdef";

  private final Rendering r;
  private final boolean ascii;
  private final boolean pretty;
  private final String indent;
  private final String itemSeparator;
  private final String keySeparator;
  private final boolean sorted;
  private final StringBuilder out = new StringBuilder();
  private int depth;

  private JsonWriter(
      Rendering r,
      boolean ascii,
      boolean pretty,
      String indent,
      String itemSeparator,
      String keySeparator,
      boolean sorted) {
    this.r = r;
    this.ascii = ascii;
    this.pretty = pretty;
    this.indent = indent;
    this.itemSeparator = itemSeparator;
    this.keySeparator = keySeparator;
    this.sorted = sorted;
  }

  /**
   * Writes a value.
   *
   * @param indent None, a number of spaces or the text to indent by
   * @param separators None, or those of items and of keys
   */
  static String write(
      Rendering r, Object value, boolean ascii, Object indent, Object separators, boolean sorted) {
    boolean pretty = indent != PyNone.NONE;
    String itemSeparator = pretty ? "," : ", ";
    String keySeparator = ": ";
    if (separators != PyNone.NONE) {
      List<Object> both = Py.list(r, separators);
      if (both.size() != 2) {
        throw PyError.value(
            both.size() < 2
                ? "not enough values to unpack (expected 2, got " + both.size() + ")"
                : "too many values to unpack (expected 2)");
      }
      itemSeparator = separator(both.get(0));
      keySeparator = separator(both.get(1));
    }
    String step = "";
    if (pretty) {
      step = Py.isString(indent) ? Py.text(indent) : spaces(r, indent);
    }
    JsonWriter writer = new JsonWriter(r, ascii, pretty, step, itemSeparator, keySeparator, sorted);
    writer.value(value);
    r.chargeChars(writer.out.length());
    return writer.out.toString();
  }

  private static String separator(Object value) {
    if (!Py.isString(value)) {
      throw PyError.type("make_encoder() argument must be str, not " + Py.typeName(value));
    }
    return Py.text(value);
  }

  private static String spaces(Rendering r, Object indent) {
    if (!Numbers.isIntegral(indent)) {
      throw PyError.type(
          "can't multiply sequence by non-int of type '" + Py.typeName(indent) + "'");
    }
    int count = Math.max(Numbers.size(indent), 0);
    r.chargeChars(count);
    return " ".repeat(count);
  }

  private void value(Object value) {
    if (Py.isString(value)) {
      string(Py.text(value));
    } else if (value == PyNone.NONE) {
      out.append("null");
    } else if (value instanceof Boolean b) {
      out.append(b ? "true" : "false");
    } else if (Numbers.isFloat(value)) {
      out.append(floatText(Numbers.asDouble(value)));
    } else if (value instanceof Number n) {
      out.append(Numbers.text(n));
    } else if (value instanceof List<?> list) {
      enter();
      list(list);
      depth--;
    } else if (value instanceof Map<?, ?> map) {
      enter();
      dict(map);
      depth--;
    } else {
      throw PyError.type("Object of type " + Py.typeName(value) + " is not JSON serializable");
    }
    if (out.length() > r.maxLength()) {
      r.chargeChars(out.length());
    }
  }

  private void enter() {
    r.charge();
    if (++depth > Repr.MAX_NESTING) {
      throw PyError.of(
          "RecursionError", "maximum recursion depth exceeded while encoding a JSON object");
    }
  }

  private static String floatText(double d) {
    if (Double.isNaN(d)) {
      return "NaN";
    }
    return Double.isInfinite(d) ? (d > 0 ? "Infinity" : "-Infinity") : FloatText.repr(d);
  }

  private void list(List<?> list) {
    if (list.isEmpty()) {
      out.append("[]");
      return;
    }
    out.append('[');
    boolean first = true;
    for (Object item : list) {
      separate(first);
      first = false;
      value(Py.in(item));
    }
    close(']');
  }

  private void dict(Map<?, ?> map) {
    if (map.isEmpty()) {
      out.append("{}");
      return;
    }
    out.append('{');
    boolean first = true;
    if (sorted) {
      List<Object> pairs = Py.list(r, new DictView(map, DictView.Kind.ITEMS));
      for (Object pair : Compare.sorted(r, pairs, p -> p, false)) {
        entry(((PyTuple) pair).get(0), ((PyTuple) pair).get(1), first);
        first = false;
      }
    } else {
      for (Map.Entry<?, ?> e : map.entrySet()) {
        entry(Py.in(e.getKey()), Py.in(e.getValue()), first);
        first = false;
      }
    }
    close('}');
  }

  private void entry(Object key, Object value, boolean first) {
    separate(first);
    string(key(key));
    out.append(keySeparator);
    value(value);
  }

  private static String key(Object key) {
    if (Py.isString(key)) {
      return Py.text(key);
    }
    if (Numbers.isFloat(key)) {
      return floatText(Numbers.asDouble(key));
    }
    if (key instanceof Boolean b) {
      return b ? "true" : "false";
    }
    if (key == PyNone.NONE) {
      return "null";
    }
    if (key instanceof Number n) {
      return Numbers.text(n);
    }
    throw PyError.type("keys must be str, int, float, bool or None, not " + Py.typeName(key));
  }

  private void separate(boolean first) {
    if (!first) {
      out.append(itemSeparator);
    }
    if (pretty) {
      newline(depth);
    }
  }

  private void close(char bracket) {
    if (pretty) {
      newline(depth - 1);
    }
    out.append(bracket);
  }

  private void newline(int level) {
    out.append('\n');
    for (int i = 0; i < level; i++) {
      out.append(indent);
    }
  }

  private void string(String s) {
    out.append('"');
    int plainFrom = 0;
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c >= ' ' && c != '"' && c != '\\' && (c < 0x7f || !ascii)) {
        continue;
      }
      out.append(s, plainFrom, i);
      plainFrom = i + 1;
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          out.append("\\u");
          for (int shift = 12; shift >= 0; shift -= 4) {
            out.append(HEX.charAt(c >> shift & 15));
          }
        }
      }
    }
    out.append(s, plainFrom, s.length()).append('"');
  }
}
