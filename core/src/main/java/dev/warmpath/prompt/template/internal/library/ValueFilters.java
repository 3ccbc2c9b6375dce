package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.FloatText;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Namespace;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Map;

/** Filters over single values. */
final class ValueFilters {
  private static final String[] DECIMAL_UNITS = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  private static final String[] BINARY_UNITS = {
    "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"
  };

  private ValueFilters() {}

  static void define(Map<String, Function> filters) {
    Function orDefault =
        Function.python(
            "do_default",
            0,
            "value, default_value='', boolean=False",
            (r, v) ->
                v[0] instanceof Undefined || (Py.isTrue(r, v[2]) && !Py.isTrue(r, v[0]))
                    ? v[1]
                    : v[0]);
    filters.put("default", orDefault);
    filters.put("d", orDefault);
    filters.put("abs", Function.builtIn("abs", (r, value) -> Arithmetic.absolute(value)));
    filters.put("attr", Function.python("do_attr", 1, "obj, name", ValueFilters::attribute));
    filters.put(
        "float", Function.python("do_float", 0, "value, default=0.0", ValueFilters::toFloat));
    filters.put(
        "int", Function.python("do_int", 0, "value, default=0, base=10", ValueFilters::toInt));
    filters.put(
        "round",
        Function.python("do_round", 0, "value, precision=0, method='common'", ValueFilters::round));
    filters.put(
        "filesizeformat",
        Function.python("do_filesizeformat", 0, "value, binary=False", ValueFilters::fileSize));
    filters.put(
        "pprint",
        Function.python("do_pprint", 0, "value", (r, v) -> new PrettyPrinter(r).format(v[0])));
    filters.put(
        "tojson",
        Function.python(
            "tojson",
            0,
            "x, ensure_ascii=False, indent=None, separators=None, sort_keys=False",
            (r, v) ->
                JsonWriter.write(r, v[0], Py.isTrue(r, v[1]), v[2], v[3], Py.isTrue(r, v[4]))));
  }

  private static Object attribute(Rendering r, Object[] v) {
    if (!Py.isString(v[1])) {
      throw PyError.type("attribute name must be string, not '" + Py.typeName(v[1]) + "'");
    }
    String name = Py.text(v[1]);
    boolean found =
        v[0] instanceof Namespace
            ? Access.find(r, v[0], name) != Missing.MISSING || Dunders.has(v[0], name)
            : Access.find(r, v[0], name) != Missing.MISSING;
    return found ? Access.attribute(r, v[0], name) : Undefined.member(v[0], name);
  }

  private static Object toFloat(Rendering r, Object[] v) {
    try {
      return asFloat(v[0]);
    } catch (PyError e) {
      return orDefault(e, v[1]);
    }
  }

  /** Python's {@code float(value)}. */
  private static double asFloat(Object value) {
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (Py.isString(value)) {
      return Numbers.parseFloat(Py.text(value), value);
    }
    if (!Numbers.isNumber(value)) {
      throw PyError.type(
          "float() argument must be a string or a real number, not '" + Py.typeName(value) + "'");
    }
    return Numbers.asDouble(value);
  }

  private static Object orDefault(PyError e, Object whenInvalid) {
    if (e.type().equals("TypeError") || e.type().equals("ValueError")) {
      return whenInvalid;
    }
    throw e;
  }

  private static Object toInt(Rendering r, Object[] v) {
    try {
      return asInt(v[0], v[2]);
    } catch (PyError e) {
      orDefault(e, v[1]);
    }
    try {
      return truncate(asFloat(v[0]));
    } catch (PyError e) {
      return e.type().equals("OverflowError") ? v[1] : orDefault(e, v[1]);
    }
  }

  private static Object asInt(Object value, Object base) {
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (Py.isString(value)) {
      return Numbers.parseInt(Py.text(value), Numbers.size(base), value);
    }
    if (Numbers.isIntegral(value)) {
      return Arithmetic.plus(value);
    }
    if (!Numbers.isFloat(value)) {
      throw PyError.type(
          "int() argument must be a string, a bytes-like object or a real number, not '"
              + Py.typeName(value)
              + "'");
    }
    return truncate(Numbers.asDouble(value));
  }

  private static Object truncate(double d) {
    if (Double.isNaN(d)) {
      throw PyError.value("cannot convert float NaN to integer");
    }
    if (Double.isInfinite(d)) {
      throw PyError.overflow("cannot convert float infinity to integer");
    }
    return Numbers.of(new BigDecimal(d).toBigInteger());
  }

  private static Object round(Rendering r, Object[] v) {
    Object method = v[2];
    String how = Py.isString(method) ? Py.text(method) : "";
    switch (how) {
      case "common" -> {
        return roundHalfEven(v[0], v[1]);
      }
      case "ceil", "floor" -> {
        Object power = Arithmetic.power(r, 10L, v[1]);
        Object scaled = Arithmetic.multiply(r, v[0], power);
        return Arithmetic.divide(r, roundToInt(scaled, how.equals("ceil")), power);
      }
      default -> throw PyError.filterArgument("method must be common, ceil or floor");
    }
  }

  private static Object roundToInt(Object value, boolean up) {
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (Numbers.isIntegral(value)) {
      return Arithmetic.plus(value);
    }
    if (!Numbers.isFloat(value)) {
      throw PyError.type("must be real number, not " + Py.typeName(value));
    }
    double d = Numbers.asDouble(value);
    return truncate(up ? Math.ceil(d) : Math.floor(d));
  }

  /** Python's {@code round(value, precision)}. */
  private static Object roundHalfEven(Object value, Object precision) {
    if (!Numbers.isNumber(value)) {
      throw PyError.type("type " + Py.typeName(value) + " doesn't define __round__ method");
    }
    if (Numbers.isFloat(value)) {
      double d = Numbers.asDouble(value);
      if (precision == PyNone.NONE) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
          return truncate(d);
        }
        return Numbers.of(new BigDecimal(d).setScale(0, RoundingMode.HALF_EVEN).toBigInteger());
      }
      long digits = Numbers.index(precision);
      if (Double.isNaN(d) || Double.isInfinite(d) || digits > 323) {
        return d;
      }
      if (digits < -308) {
        return Math.copySign(0.0, d);
      }
      double rounded =
          new BigDecimal(d).setScale((int) digits, RoundingMode.HALF_EVEN).doubleValue();
      if (Double.isInfinite(rounded)) {
        throw PyError.overflow("rounded value too large to represent");
      }
      return Math.copySign(rounded, d);
    }
    BigInteger n = Numbers.asBig(value);
    long digits = precision == PyNone.NONE ? 0 : Numbers.index(precision);
    if (digits >= 0) {
      return Numbers.of(n);
    }
    if (-digits > n.bitLength()) {
      return 0L;
    }
    return Numbers.of(
        new BigDecimal(n).setScale((int) digits, RoundingMode.HALF_EVEN).toBigInteger());
  }

  private static Object fileSize(Rendering r, Object[] v) {
    double bytes = asFloat(v[0]);
    boolean binary = Py.isTrue(r, v[1]);
    double base = binary ? 1024 : 1000;
    if (bytes == 1) {
      return "1 Byte";
    }
    if (bytes < base) {
      return truncate(bytes) + " Bytes";
    }
    String[] units = binary ? BINARY_UNITS : DECIMAL_UNITS;
    double unit = base;
    String name = "";
    for (int i = 0; i < units.length; i++) {
      unit = new BigDecimal(base).pow(i + 2).doubleValue();
      name = units[i];
      if (bytes < unit) {
        break;
      }
    }
    return FloatText.fixed(base * bytes / unit, 1, false) + " " + name;
  }
}
