package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.library.Function;
import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.LazyIterator;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyCallable;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyIterable;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The variable {@code loop}. It runs ahead of the loop by one item at most, and only when asked
 * about what comes.
 */
final class LoopContext implements PyCallable, PyIterable {
  private final Object iterable;
  private final @Nullable Recursion recursion;
  private final long depth0;
  private Iterator<Object> iterator;
  private long index0 = -1;
  private long length = -1;
  private Object after = Missing.MISSING;
  private Object current = Missing.MISSING;
  private Object before = Missing.MISSING;
  private Object lastChanged = Missing.MISSING;

  /** What a recursive loop does with another iterable. */
  @FunctionalInterface
  interface Recursion {
    Object render(Object iterable, long depth0);
  }

  LoopContext(Rendering r, Object iterable, @Nullable Recursion recursion, long depth0) {
    this.iterable = iterable;
    this.recursion = recursion;
    this.depth0 = depth0;
    this.iterator = Py.iterate(r, iterable);
  }

  /** Goes on to the next item and gives it, or {@link Missing#MISSING}. */
  Object advance() {
    Object item = peek();
    after = Missing.MISSING;
    if (item != Missing.MISSING) {
      index0++;
      before = current;
      current = item;
    }
    return item;
  }

  private Object peek() {
    if (after == Missing.MISSING && iterator.hasNext()) {
      after = iterator.next();
    }
    return after;
  }

  @Override
  public int length(Rendering r) {
    if (length < 0) {
      length = Py.lengthOrNegative(r, iterable);
      if (length < 0) {
        List<Object> rest = new ArrayList<>();
        while (iterator.hasNext()) {
          r.charge();
          rest.add(iterator.next());
        }
        iterator = rest.iterator();
        length = rest.size() + index0 + 1 + (after == Missing.MISSING ? 0 : 1);
      }
    }
    return (int) length;
  }

  @Override
  public Iterator<Object> iterate(Rendering r) {
    return new LazyIterator() {
      @Override
      protected Object advance() {
        Object item = LoopContext.this.advance();
        return item == Missing.MISSING ? item : new PyTuple(item, LoopContext.this);
      }
    };
  }

  @Override
  public String typeName() {
    return "LoopContext";
  }

  @Override
  public String qualifiedTypeName() {
    return "jinja2.runtime.LoopContext";
  }

  @Override
  public boolean isTrue(Rendering r) {
    return length(r) > 0;
  }

  @Override
  public Object attribute(Rendering r, String name) {
    return switch (name) {
      case "index0" -> index0;
      case "index" -> index0 + 1;
      case "revindex0" -> length(r) - index0 - 1;
      case "revindex" -> length(r) - index0;
      case "first" -> index0 == 0;
      case "last" -> peek() == Missing.MISSING;
      case "length" -> (long) length(r);
      case "depth" -> depth0 + 1;
      case "depth0" -> depth0;
      case "previtem" -> index0 == 0 ? Undefined.because("there is no previous item") : before;
      case "nextitem" ->
          peek() == Missing.MISSING ? Undefined.because("there is no next item") : after;
      case "cycle" -> new BoundMethod(this, name, (rendering, self, args) -> cycle(args));
      case "changed" ->
          new BoundMethod(this, name, (rendering, self, args) -> changed(rendering, args));
      default -> Missing.MISSING;
    };
  }

  private Object cycle(Args args) {
    Function.refuseKeywords("LoopContext.cycle", args);
    if (args.count() == 0) {
      throw PyError.type("no items for cycling given");
    }
    return args.get(Math.floorMod(index0, args.count()));
  }

  private Object changed(Rendering r, Args args) {
    Function.refuseKeywords("LoopContext.changed", args);
    PyTuple value = new PyTuple(args.positional());
    if (lastChanged != Missing.MISSING && Compare.equal(r, lastChanged, value)) {
      return false;
    }
    lastChanged = value;
    return true;
  }

  @Override
  public Object call(Rendering r, Args args) {
    Object inner = Function.onlyArgument("LoopContext.__call__", "iterable", args);
    if (recursion == null) {
      throw PyError.type("The loop must have the 'recursive' marker to be called recursively.");
    }
    return recursion.render(inner, depth0 + 1);
  }

  @Override
  public void repr(Repr out) {
    out.append("<LoopContext ").append(Long.toString(index0 + 1)).append('/');
    out.append(Integer.toString(length(out.rendering()))).append('>');
  }
}
