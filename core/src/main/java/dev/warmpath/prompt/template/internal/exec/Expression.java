package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Py;

/** Something with a value. */
public abstract class Expression {
  /** Computes the value. */
  public abstract Object eval(Frame f);

  /** Computes the value's truth. */
  public boolean test(Frame f) {
    return Py.isTrue(f.r, eval(f));
  }
}
