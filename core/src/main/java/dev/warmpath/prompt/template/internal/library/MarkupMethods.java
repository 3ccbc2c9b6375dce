package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The methods of MarkupSafe's {@code Markup}: those of {@code str}, with arguments escaped and
 * results marked.
 */
final class MarkupMethods {
  private static final Set<String> PLAIN_RESULT =
      Set.of(
          "count",
          "encode",
          "endswith",
          "find",
          "index",
          "isalnum",
          "isalpha",
          "isascii",
          "isdecimal",
          "isdigit",
          "isidentifier",
          "islower",
          "isnumeric",
          "isprintable",
          "isspace",
          "istitle",
          "isupper",
          "maketrans",
          "rfind",
          "rindex",
          "startswith");

  private MarkupMethods() {}

  static BoundMethod.@Nullable Method get(String name) {
    switch (name) {
      case "striptags" -> {
        return (r, self, args) -> HtmlFilters.stripTags(r, Py.text(self));
      }
      case "unescape" -> {
        return (r, self, args) -> HtmlFilters.unescape(Py.text(self));
      }
      default -> {}
    }
    BoundMethod.Method method = StringMethods.get(name);
    if (method == null || PLAIN_RESULT.contains(name)) {
      return method;
    }
    return switch (name) {
      case "format" ->
          (r, self, args) -> new Markup(BraceFormat.formatEscaped(r, Py.text(self), args));
      case "join" -> (r, self, args) -> mark(method.call(r, self, escapeItems(r, args)));
      case "replace", "ljust", "rjust", "center" ->
          (r, self, args) -> mark(method.call(r, self, escapeSecond(r, args)));
      default -> (r, self, args) -> mark(method.call(r, self, args));
    };
  }

  private static Args escapeItems(Rendering r, Args args) {
    if (args.count() != 1) {
      return args;
    }
    List<Object> escaped = new ArrayList<>();
    for (Iterator<Object> it = Py.iterate(r, args.get(0)); it.hasNext(); ) {
      r.charge();
      escaped.add(Markup.escape(r, it.next()));
    }
    return Args.of(escaped);
  }

  private static Args escapeSecond(Rendering r, Args args) {
    if (args.count() < 2) {
      return args;
    }
    Object[] positional = args.positional().clone();
    positional[1] = Markup.escape(r, positional[1]);
    return new Args(positional, args.keywords());
  }

  private static Object mark(Object result) {
    if (result instanceof String s) {
      return new Markup(s);
    }
    if (result instanceof PyTuple tuple) {
      return new PyTuple(tuple.stream().map(MarkupMethods::mark).toArray());
    }
    if (result instanceof List<?> list) {
      List<Object> marked = new ArrayList<>(list.size());
      list.forEach(each -> marked.add(mark(Py.in(each))));
      return marked;
    }
    return result;
  }
}
