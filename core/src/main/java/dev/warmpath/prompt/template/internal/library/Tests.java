package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.HashSetOfValues;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyComplex;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Text;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All tests by name. */
public final class Tests {
  private static final Map<String, Function> ALL = new HashMap<>();

  private interface Question {
    boolean of(Rendering r, Object value);
  }

  private interface Comparison {
    boolean of(Rendering r, Object value, Object other);
  }

  static {
    question("odd", (r, value) -> Compare.equal(r, Arithmetic.modulo(r, value, 2L), 1L));
    question("even", (r, value) -> Compare.equal(r, Arithmetic.modulo(r, value, 2L), 0L));
    question("defined", (r, value) -> !(value instanceof Undefined));
    question("undefined", (r, value) -> value instanceof Undefined);
    question("none", (r, value) -> value == PyNone.NONE);
    question("boolean", (r, value) -> value instanceof Boolean);
    question("false", (r, value) -> Boolean.FALSE.equals(value));
    question("true", (r, value) -> Boolean.TRUE.equals(value));
    question("integer", (r, value) -> Numbers.isInt(value));
    question("float", (r, value) -> Numbers.isFloat(value));
    question("lower", (r, value) -> asks(r, value, "islower"));
    question("upper", (r, value) -> asks(r, value, "isupper"));
    question("string", (r, value) -> Py.isString(value));
    question("mapping", (r, value) -> value instanceof Map);
    question("number", (r, value) -> Numbers.isNumber(value) || value instanceof PyComplex);
    question("sequence", (r, value) -> Py.isSubscriptable(value));
    question("iterable", (r, value) -> Py.isIterable(value));
    question("escaped", (r, value) -> value instanceof Markup);
    question("filter", (r, value) -> exists(r, value, true));
    question("test", (r, value) -> exists(r, value, false));
    ALL.put("callable", Function.builtIn("callable", (r, value) -> Py.isCallable(value)));
    comparison(
        "divisibleby",
        "value, num",
        (r, value, number) -> Compare.equal(r, Arithmetic.modulo(r, value, number), 0L));
    comparison("sameas", "value, other", (r, value, other) -> isSame(value, other));
    comparison("in", "value, seq", (r, value, container) -> Compare.contains(r, container, value));
    operator(Compare::equal, "eq", "==", "equalto");
    operator((r, a, b) -> !Compare.equal(r, a, b), "ne", "!=");
    operator((r, a, b) -> Compare.ordered(r, a, b, Compare.Order.GT), "gt", ">", "greaterthan");
    operator((r, a, b) -> Compare.ordered(r, a, b, Compare.Order.GE), "ge", ">=");
    operator((r, a, b) -> Compare.ordered(r, a, b, Compare.Order.LT), "lt", "<", "lessthan");
    operator((r, a, b) -> Compare.ordered(r, a, b, Compare.Order.LE), "le", "<=");
  }

  private Tests() {}

  /** The test of a name, or null. */
  public static @Nullable Function get(String name) {
    return ALL.get(name);
  }

  private static void question(String name, Question question) {
    ALL.put(name, Function.python("test_" + name, 0, "value", (r, v) -> question.of(r, v[0])));
  }

  private static void comparison(String name, String parameters, Comparison comparison) {
    ALL.put(
        name,
        Function.python("test_" + name, 0, parameters, (r, v) -> comparison.of(r, v[0], v[1])));
  }

  private static void operator(Comparison comparison, String name, String... otherNames) {
    Function function =
        Function.raw(
            name,
            (r, args) -> {
              Object[] both = Parameters.positional(name, args, 2, 2);
              return comparison.of(r, both[0], both[1]);
            });
    ALL.put(name, function);
    for (String other : otherNames) {
      ALL.put(other, function);
    }
  }

  private static boolean asks(Rendering r, Object value, String method) {
    var question = StringMethods.get(method);
    return question != null && question.call(r, Py.str(r, value), Args.NONE).equals(true);
  }

  private static boolean exists(Rendering r, Object name, boolean filter) {
    if (!Py.isString(name)) {
      return new HashSetOfValues().contains(r, name);
    }
    return (filter ? Filters.get(Py.text(name)) : get(Py.text(name))) != null;
  }

  /** Python's {@code is}, with the small ints and strings that CPython keeps one of. */
  @SuppressWarnings("ReferenceEquality")
  private static boolean isSame(Object a, Object b) {
    if (a == b || (a instanceof Boolean && a.equals(b))) {
      return true;
    }
    if (Numbers.isInt(a) && Numbers.isInt(b) && Numbers.isLong(a) && Numbers.isLong(b)) {
      return Numbers.asLong(a) == Numbers.asLong(b)
          && Numbers.asLong(a) >= -5
          && Numbers.asLong(a) <= 256;
    }
    return a instanceof String s && b instanceof String t && s.equals(t) && Text.length(s) <= 1;
  }
}
