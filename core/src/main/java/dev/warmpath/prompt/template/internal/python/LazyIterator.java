package dev.warmpath.prompt.template.internal.python;

import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * An iterator over what {@link #advance} computes, one value at a time and no earlier than asked
 * for.
 */
public abstract class LazyIterator implements Iterator<Object> {
  private Object next = Missing.MISSING;
  private boolean done;

  /** The next value, or {@link Missing#MISSING} at the end. */
  protected abstract Object advance();

  @Override
  public final boolean hasNext() {
    if (next == Missing.MISSING && !done) {
      next = advance();
      done = next == Missing.MISSING;
    }
    return !done;
  }

  @Override
  public final Object next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Object value = next;
    next = Missing.MISSING;
    return value;
  }
}
