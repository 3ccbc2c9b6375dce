package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.DictView;
import dev.warmpath.prompt.template.internal.python.Dicts;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyDict;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The methods of {@code dict}. Those that change a dict exist, but the sandbox hands none out. */
final class DictMethods {
  private DictMethods() {}

  static BoundMethod.@Nullable Method get(String name) {
    return switch (name) {
      case "get" -> DictMethods::getValue;
      case "items" -> (r, self, args) -> view("items", self, args, DictView.Kind.ITEMS);
      case "keys" -> (r, self, args) -> view("keys", self, args, DictView.Kind.KEYS);
      case "values" -> (r, self, args) -> view("values", self, args, DictView.Kind.VALUES);
      case "copy" ->
          (r, self, args) -> {
            Parameters.none("dict.copy", args);
            PyDict copy = new PyDict();
            copy.setAll(r, (Map<?, ?>) self);
            return copy;
          };
      case "fromkeys" -> (r, self, args) -> fromKeys(r, args);
      case "clear", "pop", "popitem", "setdefault", "update" ->
          (r, self, args) -> {
            throw PyError.of("SecurityError", "a dict cannot be changed");
          };
      default -> null;
    };
  }

  private static Object getValue(Rendering r, Object self, Args args) {
    Object[] values = Parameters.positional("dict.get", args, 1, 2);
    Object value = Dicts.get(r, (Map<?, ?>) self, values[0]);
    if (value != Missing.MISSING) {
      return value;
    }
    return values[1] == Missing.MISSING ? PyNone.NONE : values[1];
  }

  private static Object view(String name, Object self, Args args, DictView.Kind kind) {
    Parameters.none("dict." + name, args);
    return new DictView((Map<?, ?>) self, kind);
  }

  private static Object fromKeys(Rendering r, Args args) {
    Object[] values = Parameters.positional("dict.fromkeys", args, 1, 2);
    PyDict dict = new PyDict();
    for (Iterator<Object> it = Py.iterate(r, values[0]); it.hasNext(); ) {
      r.charge();
      dict.set(r, it.next(), values[1] == Missing.MISSING ? PyNone.NONE : values[1]);
    }
    return dict;
  }

  /** Python's {@code dict(...)}. */
  static PyDict create(Rendering r, Args args) {
    if (args.count() > 1) {
      throw PyError.type("dict expected at most 1 argument, got " + args.count());
    }
    PyDict dict = new PyDict();
    if (args.count() == 1) {
      Object source = args.get(0);
      if (source instanceof Undefined undefined) {
        throw undefined.error();
      }
      if (source instanceof Map<?, ?> map) {
        dict.setAll(r, map);
      } else {
        pairs(r, source, dict);
      }
    }
    args.keywords().forEach(dict::set);
    return dict;
  }

  private static void pairs(Rendering r, Object source, PyDict dict) {
    int index = 0;
    for (Iterator<Object> it = Py.iterate(r, source); it.hasNext(); index++) {
      Object pair = it.next();
      r.charge();
      if (!Py.isIterable(pair)) {
        throw PyError.type(
            "cannot convert dictionary update sequence element #" + index + " to a sequence");
      }
      List<Object> both = Py.list(r, pair);
      if (both.size() != 2) {
        throw PyError.value(
            "dictionary update sequence element #"
                + index
                + " has length "
                + both.size()
                + "; 2 is required");
      }
      dict.set(r, both.get(0), both.get(1));
    }
  }
}
