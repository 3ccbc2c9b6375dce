package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Undefined;

/** A variable, by the number of functions to go out and a slot there. */
public final class Variable extends Expression {
  private final int hops;
  private final int slot;
  private final String name;
  private final boolean checked;

  /**
   * A variable.
   *
   * @param checked whether it may be unset, and then reads as undefined
   */
  public Variable(int hops, int slot, String name, boolean checked) {
    this.hops = hops;
    this.slot = slot;
    this.name = name;
    this.checked = checked;
  }

  @Override
  public Object eval(Frame f) {
    Object value = raw(f);
    return value == Missing.MISSING && checked ? Undefined.variable(name) : value;
  }

  /** The value, or {@link Missing#MISSING} where it is unset. */
  Object raw(Frame f) {
    return hops == 0 ? f.slots[slot] : f.outer(hops).slots[slot];
  }

  /** Its name in the template. */
  String name() {
    return name;
  }
}
