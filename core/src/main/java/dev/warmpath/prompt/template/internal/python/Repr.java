package dev.warmpath.prompt.template.internal.python;

import java.time.Clock;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Writes values as Python's {@code repr} does. */
public final class Repr {
  /** How deep values may be nested before Python gives up with a {@code RecursionError}. */
  public static final int MAX_NESTING = 950;

  private static final int MAX_SHORT = 1 << 16;

  private final StringBuilder out;
  private final Rendering rendering;
  private final IdentityHashMap<Object, Boolean> open = new IdentityHashMap<>(4);
  private int charged;

  /** Appends to {@code out} on behalf of a rendering. */
  public Repr(Rendering rendering, StringBuilder out) {
    this.rendering = rendering;
    this.out = out;
    this.charged = out.length();
  }

  /** The {@code repr} of a value. */
  public static String of(Rendering r, Object value) {
    if (value instanceof String s) {
      return ofString(s);
    }
    StringBuilder sb = new StringBuilder();
    new Repr(r, sb).value(value);
    return sb.toString();
  }

  /** The {@code repr} of a value in an error message, where no rendering is at hand. */
  public static String ofShort(Object value) {
    return of(new Rendering(Clock.systemUTC(), MAX_SHORT, MAX_SHORT, 1), value);
  }

  /** The {@code repr} of a string. */
  public static String ofString(String s) {
    StringBuilder sb = new StringBuilder(s.length() + 2);
    string(sb, s);
    return sb.toString();
  }

  /** On whose behalf this writes. */
  public Rendering rendering() {
    return rendering;
  }

  /** Appends plain text. */
  public Repr append(String text) {
    out.append(text);
    return this;
  }

  /** Appends a character. */
  public Repr append(char c) {
    out.append(c);
    return this;
  }

  /** Appends the {@code repr} of a value. */
  public void value(Object value) {
    if (value instanceof String s) {
      string(out, s);
    } else if (value instanceof Boolean b) {
      out.append(b ? "True" : "False");
    } else if (value instanceof Number n) {
      out.append(Numbers.text(n));
    } else if (value instanceof Map<?, ?> map) {
      container(map, "{...}", () -> dict(map));
    } else if (value instanceof PyTuple tuple) {
      container(tuple, "(...)", () -> tuple(tuple));
    } else if (value instanceof List<?> list) {
      container(list, "[...]", () -> list(list));
    } else if (value instanceof Markup m) {
      out.append("Markup(");
      string(out, m.text());
      out.append(')');
    } else if (value instanceof PyObject o) {
      o.repr(this);
    } else {
      out.append('<').append(Py.typeName(value)).append(" object>");
    }
    if (out.length() - charged > 256) {
      rendering.chargeChars(out.length() - charged);
      charged = out.length();
      if (charged > rendering.maxLength()) {
        rendering.chargeChars(charged);
      }
    }
  }

  private void container(Object container, String whenOpen, Runnable content) {
    if (open.put(container, true) != null) {
      out.append(whenOpen);
      return;
    }
    if (open.size() > MAX_NESTING) {
      throw PyError.of(
          "RecursionError", "maximum recursion depth exceeded while getting the repr of an object");
    }
    rendering.charge();
    content.run();
    open.remove(container);
  }

  private void dict(Map<?, ?> map) {
    out.append('{');
    boolean first = true;
    for (Map.Entry<?, ?> e : map.entrySet()) {
      if (!first) {
        out.append(", ");
      }
      first = false;
      value(Py.in(e.getKey()));
      out.append(": ");
      value(Py.in(e.getValue()));
    }
    out.append('}');
  }

  private void tuple(PyTuple tuple) {
    out.append('(');
    for (int i = 0; i < tuple.size(); i++) {
      if (i > 0) {
        out.append(", ");
      }
      value(tuple.get(i));
    }
    out.append(tuple.size() == 1 ? ",)" : ")");
  }

  private void list(List<?> list) {
    out.append('[');
    boolean first = true;
    for (Object element : list) {
      if (!first) {
        out.append(", ");
      }
      first = false;
      value(Py.in(element));
    }
    out.append(']');
  }

  private static void string(StringBuilder out, String s) {
    char quote = s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
    out.append(quote);
    int length = s.length();
    for (int i = 0; i < length; ) {
      char c = s.charAt(i);
      if (c >= ' ' && c < 0x7f) {
        if (c == quote || c == '\\') {
          out.append('\\');
        }
        out.append(c);
        i++;
        continue;
      }
      int cp = s.codePointAt(i);
      i += Character.charCount(cp);
      if (cp == '\n') {
        out.append("\\n");
      } else if (cp == '\r') {
        out.append("\\r");
      } else if (cp == '\t') {
        out.append("\\t");
      } else if (Printable.test(cp)) {
        out.appendCodePoint(cp);
      } else {
        escape(out, cp);
      }
    }
    out.append(quote);
  }

  /** Appends a code point as a hexadecimal escape of two, four or eight digits. */
  public static void escape(StringBuilder out, int cp) {
    int digits;
    if (cp <= 0xff) {
      out.append("\\x");
      digits = 2;
    } else if (cp <= 0xffff) {
      out.append("\\u");
      digits = 4;
    } else {
      out.append("\\U");
      digits = 8;
    }
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
      out.append(Character.forDigit(cp >> shift & 15, 16));
    }
  }

  /** Python's {@code ascii}: the {@code repr} with everything beyond ASCII escaped. */
  public static String ascii(Rendering r, Object value) {
    String s = of(r, value);
    StringBuilder sb = new StringBuilder(s.length());
    s.codePoints()
        .forEach(
            cp -> {
              if (cp < 0x80) {
                sb.append((char) cp);
              } else {
                escape(sb, cp);
              }
            });
    return sb.toString();
  }
}
