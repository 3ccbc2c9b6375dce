package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The arguments of functions written in C, with CPython's words for what is wrong with them. */
final class Parameters {
  private Parameters() {}

  private static void refuseKeywords(String qualifiedName, Args args) {
    if (!args.keywords().isEmpty()) {
      throw PyError.type(qualifiedName + "() takes no keyword arguments");
    }
  }

  /** For a method without arguments. */
  static void none(String qualifiedName, Args args) {
    refuseKeywords(qualifiedName, args);
    if (args.count() != 0) {
      throw PyError.type(qualifiedName + "() takes no arguments (" + args.count() + " given)");
    }
  }

  /** For a method of one argument. */
  static Object one(String qualifiedName, Args args) {
    refuseKeywords(qualifiedName, args);
    if (args.count() != 1) {
      throw PyError.type(
          qualifiedName + "() takes exactly one argument (" + args.count() + " given)");
    }
    return args.get(0);
  }

  /** For a method of positional arguments, the rest of which are {@link Missing#MISSING}. */
  static Object[] positional(String qualifiedName, Args args, int least, int most) {
    refuseKeywords(qualifiedName, args);
    String name = qualifiedName.substring(qualifiedName.indexOf('.') + 1);
    int given = args.count();
    if (given < least || given > most) {
      int bound = given < least ? least : most;
      String how = least == most ? "" : given < least ? "at least " : "at most ";
      throw PyError.type(
          name
              + " expected "
              + how
              + bound
              + " argument"
              + (bound == 1 ? "" : "s")
              + ", got "
              + given);
    }
    return padded(args.positional(), most);
  }

  /** For an older method, which counts in another way. */
  static Object[] counted(String name, Args args, int least, int most) {
    refuseKeywords("str." + name, args);
    int given = args.count();
    if (given < least || given > most) {
      int bound = given < least ? least : most;
      throw PyError.type(
          name
              + "() takes at "
              + (given < least ? "least " : "most ")
              + bound
              + " argument"
              + (bound == 1 ? "" : "s")
              + " ("
              + given
              + " given)");
    }
    return padded(args.positional(), most);
  }

  /** For a method whose arguments may be given by name, all of them optional. */
  static Object[] named(String name, Args args, String... parameters) {
    int given = args.count() + args.keywords().size();
    if (given > parameters.length) {
      throw PyError.type(
          name
              + "() takes at most "
              + parameters.length
              + " argument"
              + (parameters.length == 1 ? "" : "s")
              + " ("
              + given
              + " given)");
    }
    Object[] values = padded(args.positional(), parameters.length);
    List<String> names = Arrays.asList(parameters);
    for (Map.Entry<String, Object> keyword : args.keywords().entrySet()) {
      int at = names.indexOf(keyword.getKey());
      if (at < 0) {
        throw PyError.type(
            "'" + keyword.getKey() + "' is an invalid keyword argument for " + name + "()");
      }
      if (at < args.count()) {
        throw PyError.type(
            "argument for "
                + name
                + "() given by name ('"
                + keyword.getKey()
                + "') and position ("
                + (at + 1)
                + ")");
      }
      values[at] = keyword.getValue();
    }
    return values;
  }

  private static Object[] padded(Object[] given, int count) {
    Object[] values = Arrays.copyOf(given, count);
    Arrays.fill(values, given.length, count, Missing.MISSING);
    return values;
  }

  /** An int, or a default where it is missing. */
  static int integer(Object value, int whenMissing) {
    return value == Missing.MISSING ? whenMissing : Numbers.size(value);
  }

  /** A slice bound of a search: an int, None or missing. */
  static long bound(Object value, long whenNone) {
    if (value == Missing.MISSING || value == PyNone.NONE) {
      return whenNone;
    }
    if (!Numbers.isIntegral(value)) {
      throw PyError.type("slice indices must be integers or None or have an __index__ method");
    }
    return Numbers.index(value);
  }

  /** A string argument by its number. */
  static String text(String name, Object value, int number) {
    if (Py.isString(value)) {
      return Py.text(value);
    }
    throw PyError.type(
        name
            + "() argument"
            + (number == 0 ? "" : " " + number)
            + " must be str, not "
            + Py.typeName(value));
  }

  /** A string argument of a method that has but one. */
  static String text(Object value) {
    if (Py.isString(value)) {
      return Py.text(value);
    }
    throw PyError.type("must be str, not " + Py.typeName(value));
  }
}
