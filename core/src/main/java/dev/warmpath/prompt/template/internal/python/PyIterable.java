package dev.warmpath.prompt.template.internal.python;

import java.util.Iterator;

/** A value of another type that can be iterated over. */
public interface PyIterable extends PyObject {
  /** Python's {@code iter}. */
  Iterator<Object> iterate(Rendering r);

  /** Python's {@code len}, or -1 where there is none. */
  default int length(Rendering r) {
    return -1;
  }
}
