package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Text;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Filters for HTML and URLs. */
final class HtmlFilters {
  private static final String UNRESERVED = "_.-~";
  private static final String HEX = "0123456789ABCDEF";

  private HtmlFilters() {}

  static void define(Map<String, Function> filters) {
    Function escape = Function.builtIn("escape", Markup::escape);
    filters.put("e", escape);
    filters.put("escape", escape);
    filters.put(
        "forceescape",
        Function.python(
            "do_forceescape",
            0,
            "value",
            (r, v) -> new Markup(Markup.escapeText(r, Py.str(r, v[0])))));
    filters.put(
        "safe", Function.python("do_mark_safe", 0, "value", (r, v) -> new Markup(Py.str(r, v[0]))));
    filters.put(
        "striptags",
        Function.python("do_striptags", 0, "value", (r, v) -> stripTags(r, Py.str(r, v[0]))));
    filters.put("urlencode", Function.python("do_urlencode", 0, "value", HtmlFilters::urlEncode));
    filters.put(
        "xmlattr",
        Function.python("do_xmlattr", 1, "d, autospace=True", HtmlFilters::xmlAttributes));
    filters.put(
        "urlize",
        Function.python(
            "do_urlize",
            1,
            "value, trim_url_limit=None, nofollow=False, target=None, rel=None, extra_schemes=None",
            Urlizer::urlize));
  }

  /** Text without comments and tags, its white space collapsed and its entities resolved. */
  static String stripTags(Rendering r, String s) {
    String text = without(without(s, "<!--", "-->"), "<", ">");
    r.chargeChars(s.length() * 2L);
    StringBuilder collapsed = new StringBuilder(text.length());
    boolean space = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Text.isSpace(c)) {
        space = true;
      } else {
        if (space && !collapsed.isEmpty()) {
          collapsed.append(' ');
        }
        space = false;
        collapsed.append(c);
      }
    }
    return unescape(collapsed.toString());
  }

  private static String without(String s, String open, String close) {
    StringBuilder kept = new StringBuilder(s.length());
    int at = 0;
    while (true) {
      int start = s.indexOf(open, at);
      int end = start < 0 ? -1 : s.indexOf(close, start);
      if (end < 0) {
        return kept.append(s, at, s.length()).toString();
      }
      kept.append(s, at, start);
      at = end + close.length();
    }
  }

  /** Python's {@code html.unescape}. */
  static String unescape(String s) {
    return HtmlEntities.unescape(s);
  }

  private static Object urlEncode(Rendering r, Object[] v) {
    Object value = v[0];
    if (Py.isString(value) || !Py.isIterable(value)) {
      return quote(r, Py.str(r, value), false);
    }
    List<Object> pairs = new ArrayList<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((key, mapped) -> pairs.add(new PyTuple(Py.in(key), Py.in(mapped))));
    } else {
      pairs.addAll(Py.list(r, value));
    }
    StringBuilder query = new StringBuilder();
    for (Object pair : pairs) {
      r.charge();
      if (!Py.isIterable(pair)) {
        throw PyError.type("cannot unpack non-iterable " + Py.typeName(pair) + " object");
      }
      List<Object> both = Py.list(r, pair);
      if (both.size() != 2) {
        throw PyError.value(
            both.size() < 2
                ? "not enough values to unpack (expected 2, got " + both.size() + ")"
                : "too many values to unpack (expected 2)");
      }
      if (!query.isEmpty()) {
        query.append('&');
      }
      query.append(quote(r, Py.str(r, both.get(0)), true));
      query.append('=').append(quote(r, Py.str(r, both.get(1)), true));
    }
    return query.toString();
  }

  private static String quote(Rendering r, String s, boolean query) {
    r.chargeChars(s.length() * 3L);
    StringBuilder quoted = new StringBuilder(s.length() + 16);
    for (byte b : s.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      if ((c >= 'a' && c <= 'z')
          || (c >= 'A' && c <= 'Z')
          || (c >= '0' && c <= '9')
          || UNRESERVED.indexOf(c) >= 0) {
        quoted.append(c);
      } else if (c == '/' && !query) {
        quoted.append(c);
      } else if (c == ' ' && query) {
        quoted.append('+');
      } else {
        quoted.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
      }
    }
    return quoted.toString();
  }

  private static Object xmlAttributes(Rendering r, Object[] v) {
    if (v[0] instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (!(v[0] instanceof Map<?, ?> map)) {
      throw PyError.of(
          "AttributeError", "'" + Py.typeName(v[0]) + "' object has no attribute 'items'");
    }
    StringBuilder attributes = new StringBuilder();
    for (Iterator<? extends Map.Entry<?, ?>> it = map.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<?, ?> e = it.next();
      Object key = Py.in(e.getKey());
      Object value = Py.in(e.getValue());
      r.charge();
      if (value == PyNone.NONE || value instanceof Undefined) {
        continue;
      }
      if (!Py.isString(key)) {
        throw PyError.type("expected string or bytes-like object, got '" + Py.typeName(key) + "'");
      }
      if (Py.text(key)
          .chars()
          .anyMatch(c -> c == '/' || c == '>' || c == '=' || (c < 0x80 && isAsciiSpace(c)))) {
        throw PyError.value("Invalid character in attribute name: " + Repr.of(r, key));
      }
      if (!attributes.isEmpty()) {
        attributes.append(' ');
      }
      attributes.append(Markup.escape(r, key).text()).append("=\"");
      attributes.append(Markup.escape(r, value).text()).append('"');
    }
    if (Py.isTrue(r, v[1]) && !attributes.isEmpty()) {
      attributes.insert(0, ' ');
    }
    return r.autoescape() ? new Markup(attributes.toString()) : attributes.toString();
  }

  private static boolean isAsciiSpace(int c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }
}
