package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.DictView;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyDict;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Python's {@code pprint.pformat}: dicts sorted, and what is wider than 80 characters spread over
 * lines.
 */
final class PrettyPrinter {
  private static final int WIDTH = 80;

  private final Rendering r;
  private final StringBuilder out = new StringBuilder();

  PrettyPrinter(Rendering r) {
    this.r = r;
  }

  String format(Object value) {
    format(sorted(value, 0), 0, 0, 0);
    r.chargeChars(out.length());
    return out.toString();
  }

  /** The same value with all its dicts sorted by key. */
  private Object sorted(Object value, int depth) {
    if (depth > Repr.MAX_NESTING) {
      throw PyError.recursion();
    }
    r.charge();
    if (value instanceof Map<?, ?> map) {
      PyDict copy = new PyDict();
      List<Object> pairs = Py.list(r, new DictView(map, DictView.Kind.ITEMS));
      for (Object each : Compare.sorted(r, pairs, p -> sortKey(((PyTuple) p).get(0)), false)) {
        PyTuple pair = (PyTuple) each;
        copy.set(r, pair.get(0), sorted(pair.get(1), depth + 1));
      }
      return copy;
    }
    if (value instanceof List<?> list) {
      List<Object> copy = new ArrayList<>(list.size());
      for (Object item : list) {
        copy.add(sorted(Py.in(item), depth + 1));
      }
      return value instanceof PyTuple ? new PyTuple(copy.toArray()) : copy;
    }
    return value;
  }

  /** Keys of types without a common order sort by the names of their types. */
  private static Object sortKey(Object key) {
    String group =
        Py.isString(key)
            ? "<class 'str'>"
            : Numbers.isNumber(key) ? "<class 'int'>" : "<class '" + Py.typeName(key) + "'>";
    boolean ordered = Py.isString(key) || Numbers.isNumber(key);
    return ordered ? new PyTuple(group, key) : new PyTuple(group);
  }

  private void format(Object value, int indent, int allowance, int level) {
    String repr = Repr.of(r, value);
    if (Text.length(repr) > WIDTH - indent - allowance) {
      if (value instanceof Map<?, ?> map) {
        dict(map, indent, allowance, level + 1);
        return;
      }
      if (value instanceof PyTuple tuple) {
        out.append('(');
        String end = tuple.size() == 1 ? ",)" : ")";
        items(tuple, indent, allowance + end.length(), level + 1);
        out.append(end);
        return;
      }
      if (value instanceof List<?> list) {
        out.append('[');
        items(list, indent, allowance + 1, level + 1);
        out.append(']');
        return;
      }
      if (value instanceof String s) {
        string(s, indent, allowance, level + 1);
        return;
      }
    }
    out.append(repr);
  }

  private void newline(int indent) {
    r.chargeChars(indent);
    out.append('\n').append(" ".repeat(indent));
  }

  private void dict(Map<?, ?> map, int indent, int allowance, int level) {
    out.append('{');
    int left = map.size();
    for (Map.Entry<?, ?> e : map.entrySet()) {
      left--;
      String key = Repr.of(r, Py.in(e.getKey()));
      out.append(key).append(": ");
      format(
          Py.in(e.getValue()),
          indent + 1 + Text.length(key) + 2,
          left == 0 ? allowance + 1 : 1,
          level);
      if (left > 0) {
        out.append(',');
        newline(indent + 1);
      }
    }
    out.append('}');
  }

  private void items(List<?> items, int indent, int allowance, int level) {
    int last = items.size() - 1;
    for (int i = 0; i <= last; i++) {
      if (i > 0) {
        out.append(',');
        newline(indent + 1);
      }
      format(Py.in(items.get(i)), indent + 1, i == last ? allowance : 1, level);
    }
  }

  private void string(String s, int indentBefore, int allowanceBefore, int level) {
    if (s.isEmpty()) {
      out.append("''");
      return;
    }
    int indent = level == 1 ? indentBefore + 1 : indentBefore;
    int allowance = level == 1 ? allowanceBefore + 1 : allowanceBefore;
    List<String> chunks = new ArrayList<>();
    List<String> lines = StringMethods.lines(s, true);
    String repr = "";
    for (int i = 0; i < lines.size(); i++) {
      boolean lastLine = i == lines.size() - 1;
      int width = WIDTH - indent - (lastLine ? allowance : 0);
      repr = Repr.ofString(lines.get(i));
      if (Text.length(repr) <= width) {
        chunks.add(repr);
      } else {
        words(lines.get(i), WIDTH - indent, lastLine ? allowance : 0, chunks);
      }
    }
    if (chunks.size() == 1) {
      out.append(repr);
      return;
    }
    if (level == 1) {
      out.append('(');
    }
    for (int i = 0; i < chunks.size(); i++) {
      if (i > 0) {
        newline(indent);
      }
      out.append(chunks.get(i));
    }
    if (level == 1) {
      out.append(')');
    }
  }

  private void words(String line, int width, int allowance, List<String> chunks) {
    List<String> parts = new ArrayList<>();
    int at = 0;
    while (at < line.length()) {
      int from = at;
      while (at < line.length() && !Text.isSpace(line.charAt(at))) {
        at++;
      }
      while (at < line.length() && Text.isSpace(line.charAt(at))) {
        at++;
      }
      parts.add(line.substring(from, at));
    }
    String current = "";
    for (int j = 0; j < parts.size(); j++) {
      String candidate = current + parts.get(j);
      r.chargeChars(candidate.length());
      int most = width - (j == parts.size() - 1 ? allowance : 0);
      if (Text.length(Repr.ofString(candidate)) > most) {
        if (!current.isEmpty()) {
          chunks.add(Repr.ofString(current));
        }
        current = parts.get(j);
      } else {
        current = candidate;
      }
    }
    if (!current.isEmpty()) {
      chunks.add(Repr.ofString(current));
    }
  }
}
