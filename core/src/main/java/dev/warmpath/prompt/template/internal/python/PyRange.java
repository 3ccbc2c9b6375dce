package dev.warmpath.prompt.template.internal.python;

import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Python's {@code range}.
 *
 * @param start first value
 * @param stop where it ends, exclusive
 * @param step distance; not 0
 */
public record PyRange(long start, long stop, long step) implements PyObject {
  /** How many values there are. */
  public int length() {
    if (step > 0) {
      return start >= stop ? 0 : (int) ((stop - start - 1) / step + 1);
    }
    return start <= stop ? 0 : (int) ((start - stop - 1) / -step + 1);
  }

  /** The value at an index within the length. */
  public long at(int index) {
    return start + index * step;
  }

  /** The index of a value, or -1. */
  public int indexOf(long value) {
    boolean within = step > 0 ? value >= start && value < stop : value <= start && value > stop;
    return within && (value - start) % step == 0 ? (int) ((value - start) / step) : -1;
  }

  /** Iterates over the values. */
  public Iterator<Object> iterator() {
    return new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < length();
      }

      @Override
      public Object next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return at(next++);
      }
    };
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof PyRange other
        && length() == other.length()
        && (length() == 0 || (start == other.start && (length() == 1 || step == other.step)));
  }

  @Override
  public int hashCode() {
    return length() == 0 ? 0 : Long.hashCode(start) * 31 + length();
  }

  @Override
  public String typeName() {
    return "range";
  }

  @Override
  public boolean isTrue(Rendering r) {
    return length() > 0;
  }

  @Override
  public Object attribute(Rendering r, String name) {
    return switch (name) {
      case "start" -> start;
      case "stop" -> stop;
      case "step" -> step;
      default -> Missing.MISSING;
    };
  }

  @Override
  public void repr(Repr out) {
    out.append("range(").append(Long.toString(start)).append(", ").append(Long.toString(stop));
    if (step != 1) {
      out.append(", ").append(Long.toString(step));
    }
    out.append(")");
  }
}
