package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The methods of {@code list} and {@code tuple}. Those that change a list exist, but the sandbox
 * hands none out.
 */
final class ListMethods {
  private ListMethods() {}

  static BoundMethod.@Nullable Method ofTuple(String name) {
    return switch (name) {
      case "count" -> ListMethods::count;
      case "index" -> ListMethods::index;
      default -> null;
    };
  }

  static BoundMethod.@Nullable Method ofList(String name) {
    return switch (name) {
      case "count" -> ListMethods::count;
      case "index" -> ListMethods::index;
      case "copy" ->
          (r, self, args) -> {
            Parameters.none("list.copy", args);
            return Py.list(r, self);
          };
      case "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort" ->
          ListMethods::refuse;
      default -> null;
    };
  }

  private static Object refuse(Rendering r, Object self, Args args) {
    throw PyError.of("SecurityError", "a list cannot be changed");
  }

  private static Object count(Rendering r, Object self, Args args) {
    Object value = Parameters.one(Py.typeName(self) + ".count", args);
    long count = 0;
    for (Object each : (List<?>) self) {
      r.charge();
      if (Compare.same(r, Py.in(each), value)) {
        count++;
      }
    }
    return count;
  }

  private static Object index(Rendering r, Object self, Args args) {
    Object[] values = Parameters.positional(Py.typeName(self) + ".index", args, 1, 3);
    List<?> list = (List<?>) self;
    int size = list.size();
    int from = clip(bound(values[1], 0), size);
    int to = Math.min(clip(bound(values[2], Long.MAX_VALUE), size), size);
    for (int i = from; i < to; i++) {
      r.charge();
      if (Compare.same(r, Py.in(list.get(i)), values[0])) {
        return (long) i;
      }
    }
    throw PyError.value(
        self instanceof PyTuple
            ? "tuple.index(x): x not in tuple"
            : Repr.of(r, values[0]) + " is not in list");
  }

  private static long bound(Object value, long whenMissing) {
    if (value == Missing.MISSING) {
      return whenMissing;
    }
    if (!Numbers.isIntegral(value)) {
      throw PyError.type("slice indices must be integers or have an __index__ method");
    }
    return Numbers.index(value);
  }

  private static int clip(long index, int size) {
    return (int) Math.min(index < 0 ? Math.max(index + size, 0) : index, Integer.MAX_VALUE);
  }
}
