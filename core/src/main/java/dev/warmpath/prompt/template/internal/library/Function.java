package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.PyCallable;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A function, with the checks of its arguments that Python makes before the function runs. */
public final class Function implements PyCallable {
  /** A function that takes its arguments as they were given. */
  @FunctionalInterface
  interface Raw {
    Object call(Rendering r, Args args);
  }

  /** A function that takes one value a parameter. */
  @FunctionalInterface
  interface Bound {
    Object call(Rendering r, Object[] values);
  }

  private final String name;
  private final Raw body;

  private Function(String name, Raw body) {
    this.name = name;
    this.body = body;
  }

  /** A function that checks its arguments itself. */
  static Function raw(String name, Raw body) {
    return new Function(name, body);
  }

  /**
   * A function written in Python.
   *
   * @param name its name there
   * @param implicit arguments that the environment puts before those of the template
   * @param parameters names and defaults, as in {@code "s, width=4, first=False"}
   */
  static Function python(String name, int implicit, String parameters, Bound body) {
    Signature signature = Signature.parse(name, implicit, parameters);
    return new Function(name, (r, args) -> body.call(r, signature.bind(args)));
  }

  /** A built-in function of exactly one argument. */
  static Function builtIn(String name, BuiltIn body) {
    return new Function(
        name,
        (r, args) -> {
          if (!args.keywords().isEmpty()) {
            throw PyError.type(name + "() takes no keyword arguments");
          }
          if (args.count() != 1) {
            throw PyError.type(name + "() takes exactly one argument (" + args.count() + " given)");
          }
          return body.call(r, args.get(0));
        });
  }

  /** A built-in function of one argument. */
  @FunctionalInterface
  interface BuiltIn {
    Object call(Rendering r, Object value);
  }

  @Override
  public Object call(Rendering r, Args args) {
    return body.call(r, args);
  }

  @Override
  public String typeName() {
    return "function";
  }

  @Override
  public void repr(Repr out) {
    out.append("<function ").append(name).append(" at 0x7f0000000000>");
  }

  /** Refuses keyword arguments where a function has none. */
  public static void refuseKeywords(String function, Args args) {
    if (!args.keywords().isEmpty()) {
      throw unexpectedKeyword(function, args.keywords().keySet().iterator().next());
    }
  }

  /** The one argument of a method written in Python. */
  public static Object onlyArgument(String method, String parameter, Args args) {
    return Signature.parse(method, 1, parameter).bind(args)[0];
  }

  private static PyError unexpectedKeyword(String function, String keyword) {
    return PyError.type(function + "() got an unexpected keyword argument '" + keyword + "'");
  }

  /** The parameters of a function written in Python. */
  private record Signature(
      String function, int implicit, List<String> names, List<Object> defaults) {
    static Signature parse(String function, int implicit, String parameters) {
      List<String> names = new ArrayList<>();
      List<Object> defaults = new ArrayList<>();
      for (String parameter : parameters.split(", ", -1)) {
        int equals = parameter.indexOf('=');
        names.add(equals < 0 ? parameter : parameter.substring(0, equals));
        defaults.add(equals < 0 ? Missing.MISSING : literal(parameter.substring(equals + 1)));
      }
      return new Signature(function, implicit, names, defaults);
    }

    private static Object literal(String text) {
      return switch (text) {
        case "None" -> PyNone.NONE;
        case "True" -> true;
        case "False" -> false;
        case "0.0" -> 0.0;
        default ->
            text.startsWith("'")
                ? text.substring(1, text.length() - 1)
                : (Object) Long.parseLong(text);
      };
    }

    Object[] bind(Args args) {
      Object[] values = defaults.toArray();
      int given = args.count();
      System.arraycopy(args.positional(), 0, values, 0, Math.min(given, values.length));
      for (Map.Entry<String, Object> keyword : args.keywords().entrySet()) {
        int at = names.indexOf(keyword.getKey());
        if (at < 0) {
          throw unexpectedKeyword(function, keyword.getKey());
        }
        if (at < given) {
          throw PyError.type(
              function + "() got multiple values for argument '" + keyword.getKey() + "'");
        }
        values[at] = keyword.getValue();
      }
      if (given > values.length) {
        throw tooMany(given);
      }
      checkComplete(values);
      return values;
    }

    private PyError tooMany(int given) {
      int required = (int) defaults.stream().filter(d -> d == Missing.MISSING).count() + implicit;
      int most = names.size() + implicit;
      String takes =
          required == most
              ? most + " positional argument" + (most == 1 ? "" : "s")
              : "from " + required + " to " + most + " positional arguments";
      int all = given + implicit;
      return PyError.type(
          function
              + "() takes "
              + takes
              + " but "
              + all
              + (all == 1 ? " was" : " were")
              + " given");
    }

    private void checkComplete(Object[] values) {
      List<String> missing = null;
      for (int i = 0; i < values.length; i++) {
        if (values[i] == Missing.MISSING) {
          if (missing == null) {
            missing = new ArrayList<>();
          }
          missing.add("'" + names.get(i) + "'");
        }
      }
      if (missing != null) {
        throw PyError.type(
            function
                + "() missing "
                + missing.size()
                + " required positional argument"
                + (missing.size() == 1 ? "" : "s")
                + ": "
                + enumerate(missing));
      }
    }

    private static String enumerate(List<String> names) {
      int last = names.size() - 1;
      return switch (names.size()) {
        case 1 -> names.get(0);
        case 2 -> names.get(0) + " and " + names.get(1);
        default -> String.join(", ", names.subList(0, last)) + ", and " + names.get(last);
      };
    }
  }
}
