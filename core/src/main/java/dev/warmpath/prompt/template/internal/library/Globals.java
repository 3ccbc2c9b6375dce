package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Namespace;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyCallable;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyRange;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import java.math.BigInteger;
import java.time.LocalDateTime;
import java.util.Map;

/** The global functions. */
public final class Globals {
  private static final int MAX_RANGE = 100_000;

  private static final Map<String, Object> ALL =
      Map.of(
          "range",
          Function.raw("safe_range", Globals::range),
          "dict",
          new Type("dict", DictMethods::create),
          "namespace",
          new Type(
              "jinja2.utils.Namespace", (r, args) -> new Namespace(DictMethods.create(r, args))),
          "cycler",
          new Type("jinja2.utils.Cycler", Globals::cycler),
          "joiner",
          new Type("jinja2.utils.Joiner", Globals::joiner),
          "lipsum",
          LoremIpsum.FUNCTION,
          "raise_exception",
          Function.python(
              "raise_exception",
              0,
              "message",
              (r, v) -> {
                throw PyError.raised(Py.str(r, v[0]));
              }),
          "strftime_now",
          Function.python("strftime_now", 0, "format", Globals::formatNow));

  private Globals() {}

  /** The global of a name, or {@link Missing#MISSING}. */
  public static Object get(String name) {
    return ALL.getOrDefault(name, Missing.MISSING);
  }

  private interface Constructor {
    Object create(Rendering r, Args args);
  }

  /** A class that a template can make instances of. */
  private record Type(String name, Constructor constructor) implements PyCallable {
    @Override
    public Object call(Rendering r, Args args) {
      return constructor.create(r, args);
    }

    @Override
    public String typeName() {
      return "type";
    }

    @Override
    public Object attribute(Rendering r, String attribute) {
      if (!name.equals("dict")) {
        return Missing.MISSING;
      }
      BoundMethod.Method method = DictMethods.get(attribute);
      if (method == null) {
        return Missing.MISSING;
      }
      return attribute.equals("fromkeys")
          ? new BoundMethod(this, attribute, method)
          : Function.raw(
              attribute,
              (rendering, args) -> {
                if (args.count() == 0 || !(args.get(0) instanceof Map)) {
                  throw PyError.type("unbound method dict." + attribute + "() needs an argument");
                }
                return method.call(rendering, args.get(0), args.from(1));
              });
    }

    @Override
    public void repr(Repr out) {
      out.append("<class '").append(name).append("'>");
    }
  }

  private static Object range(Rendering r, Args args) {
    Function.refuseKeywords("safe_range", args);
    if (args.count() == 0 || args.count() > 3) {
      throw PyError.type(
          "range expected at "
              + (args.count() == 0 ? "least 1 argument" : "most 3 arguments")
              + ", got "
              + args.count());
    }
    BigInteger[] bounds = new BigInteger[args.count()];
    for (int i = 0; i < bounds.length; i++) {
      Object bound = args.get(i);
      bounds[i] =
          Numbers.isIntegral(bound)
              ? Numbers.asBig(bound)
              : BigInteger.valueOf(Numbers.index(bound));
    }
    BigInteger start = bounds.length == 1 ? BigInteger.ZERO : bounds[0];
    BigInteger stop = bounds.length == 1 ? bounds[0] : bounds[1];
    BigInteger step = bounds.length == 3 ? bounds[2] : BigInteger.ONE;
    if (step.signum() == 0) {
      throw PyError.value("range() arg 3 must not be zero");
    }
    BigInteger distance = step.signum() > 0 ? stop.subtract(start) : start.subtract(stop);
    BigInteger length =
        distance.signum() <= 0
            ? BigInteger.ZERO
            : distance.subtract(BigInteger.ONE).divide(step.abs()).add(BigInteger.ONE);
    if (length.bitLength() > 63) {
      throw PyError.overflow("Python int too large to convert to C ssize_t");
    }
    if (length.compareTo(BigInteger.valueOf(MAX_RANGE)) > 0) {
      throw PyError.overflow(
          "Range too big. The sandbox blocks ranges larger than MAX_RANGE (" + MAX_RANGE + ").");
    }
    BigInteger limit = BigInteger.ONE.shiftLeft(61);
    if (start.abs().max(stop.abs()).max(step.abs()).compareTo(limit) > 0) {
      throw PyError.limit("a range beyond 61 bits");
    }
    return new PyRange(start.longValue(), stop.longValue(), step.longValue());
  }

  private static Object cycler(Rendering r, Args args) {
    Function.refuseKeywords("Cycler.__init__", args);
    if (args.count() == 0) {
      throw PyError.of("RuntimeError", "at least one item has to be provided");
    }
    return new Cycler(args.positional());
  }

  private static Object joiner(Rendering r, Args args) {
    Object separator =
        args.count() == 0 && args.keywords().isEmpty()
            ? ", "
            : Function.onlyArgument("Joiner.__init__", "sep", args);
    return new Joiner(separator);
  }

  private static Object formatNow(Rendering r, Object[] v) {
    if (!Py.isString(v[0])) {
      throw PyError.type("strftime() argument 1 must be str, not " + Py.typeName(v[0]));
    }
    return DateFormat.format(Py.text(v[0]), LocalDateTime.now(r.clock()));
  }

  /** What {@code cycler(...)} gives. */
  private static final class Cycler
      implements dev.warmpath.prompt.template.internal.python.PyObject {
    private final Object[] items;
    private int position;

    Cycler(Object[] items) {
      this.items = items;
    }

    @Override
    public String typeName() {
      return "Cycler";
    }

    @Override
    public String qualifiedTypeName() {
      return "jinja2.utils.Cycler";
    }

    @Override
    public Object attribute(Rendering r, String name) {
      return switch (name) {
        case "items" -> new PyTuple(items);
        case "pos" -> (long) position;
        case "current" -> items[position];
        case "next" -> new BoundMethod(this, name, (rendering, self, args) -> next(args));
        case "reset" -> new BoundMethod(this, name, (rendering, self, args) -> reset(args));
        default -> Missing.MISSING;
      };
    }

    private Object next(Args args) {
      refuseArguments("Cycler.next", args);
      Object item = items[position];
      position = (position + 1) % items.length;
      return item;
    }

    private Object reset(Args args) {
      refuseArguments("Cycler.reset", args);
      position = 0;
      return PyNone.NONE;
    }

    private static void refuseArguments(String method, Args args) {
      Function.refuseKeywords(method, args);
      if (args.count() > 0) {
        throw PyError.type(
            method + "() takes 1 positional argument but " + (args.count() + 1) + " were given");
      }
    }
  }

  /** What {@code joiner(...)} gives. */
  private static final class Joiner implements PyCallable {
    private final Object separator;
    private boolean used;

    Joiner(Object separator) {
      this.separator = separator;
    }

    @Override
    public Object call(Rendering r, Args args) {
      Cycler.refuseArguments("Joiner.__call__", args);
      if (used) {
        return separator;
      }
      used = true;
      return "";
    }

    @Override
    public String typeName() {
      return "Joiner";
    }

    @Override
    public String qualifiedTypeName() {
      return "jinja2.utils.Joiner";
    }

    @Override
    public Object attribute(Rendering r, String name) {
      return switch (name) {
        case "sep" -> separator;
        case "used" -> used;
        default -> Missing.MISSING;
      };
    }
  }
}
