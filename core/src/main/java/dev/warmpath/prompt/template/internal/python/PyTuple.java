package dev.warmpath.prompt.template.internal.python;

import java.util.AbstractList;
import java.util.RandomAccess;

/** Python's {@code tuple}. It is a {@code List} for Java, and never equal to Python's list. */
public class PyTuple extends AbstractList<Object> implements RandomAccess {
  /** The empty tuple. */
  public static final PyTuple EMPTY = new PyTuple();

  private final Object[] elements;

  /** Holds the elements, without copying. */
  public PyTuple(Object... elements) {
    this.elements = elements;
  }

  @Override
  public final Object get(int index) {
    return elements[index];
  }

  @Override
  public final int size() {
    return elements.length;
  }
}
