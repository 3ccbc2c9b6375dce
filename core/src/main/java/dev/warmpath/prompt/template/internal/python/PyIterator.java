package dev.warmpath.prompt.template.internal.python;

import java.util.Iterator;

/** An iterator that is used up by reading it: a generator, or what {@code reversed} gives. */
public final class PyIterator implements PyObject, Iterator<Object> {
  private final String typeName;
  private final String name;
  private final Iterator<Object> source;

  private PyIterator(String typeName, String name, Iterator<Object> source) {
    this.typeName = typeName;
    this.name = name;
    this.source = source;
  }

  /** A generator of the function named. */
  public static PyIterator generator(String function, Iterator<Object> source) {
    return new PyIterator("generator", function, source);
  }

  /** Another kind of iterator. */
  public static PyIterator of(String typeName, Iterator<Object> source) {
    return new PyIterator(typeName, "", source);
  }

  @Override
  public boolean hasNext() {
    return source.hasNext();
  }

  @Override
  public Object next() {
    return source.next();
  }

  @Override
  public String typeName() {
    return typeName;
  }

  @Override
  public void repr(Repr out) {
    if (name.isEmpty()) {
      out.append("<").append(typeName).append(" object at 0x7f0000000000>");
    } else {
      out.append("<generator object ").append(name).append(" at 0x7f0000000000>");
    }
  }
}
