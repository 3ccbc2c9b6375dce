package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Namespace;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import java.util.Iterator;
import java.util.List;

/** What values are assigned to. */
public abstract class Target {
  /** Assigns. */
  abstract void assign(Frame f, Object value);

  /** Reads back what was assigned. */
  abstract Object read(Frame f);

  /** Refuses what can't take an assignment, before the value is computed. */
  void check(Frame f) {}

  /** A variable of the function itself. */
  public static final class Slot extends Target {
    private final int slot;

    /** The slot. */
    public Slot(int slot) {
      this.slot = slot;
    }

    @Override
    void assign(Frame f, Object value) {
      f.slots[slot] = value;
    }

    @Override
    Object read(Frame f) {
      return f.slots[slot];
    }
  }

  /** An attribute of a namespace. */
  public static final class Attribute extends Target {
    private final Variable variable;
    private final String attribute;

    /** The namespace's variable and the attribute. */
    public Attribute(Variable variable, String attribute) {
      this.variable = variable;
      this.attribute = attribute;
    }

    @Override
    void check(Frame f) {
      if (!(variable.raw(f) instanceof Namespace)) {
        throw PyError.runtime("cannot assign attribute on non-namespace object");
      }
    }

    @Override
    void assign(Frame f, Object value) {
      if (!(variable.raw(f) instanceof Namespace namespace)) {
        throw PyError.type(
            "'" + Py.typeName(variable.raw(f)) + "' object does not support item assignment");
      }
      namespace.set(attribute, value);
    }

    @Override
    Object read(Frame f) {
      throw new IllegalStateException("a loop has no namespace for a target");
    }
  }

  /** Several targets that a sequence is spread over. */
  public static final class Spread extends Target {
    private final Target[] targets;

    /** The targets. */
    public Spread(List<Target> targets) {
      this.targets = targets.toArray(new Target[0]);
    }

    @Override
    void check(Frame f) {
      for (Target target : targets) {
        target.check(f);
      }
    }

    @Override
    void assign(Frame f, Object value) {
      if (value instanceof PyTuple tuple && tuple.size() == targets.length) {
        for (int i = 0; i < targets.length; i++) {
          targets[i].assign(f, tuple.get(i));
        }
        return;
      }
      if (!Py.isIterable(value)) {
        throw PyError.type("cannot unpack non-iterable " + Py.typeName(value) + " object");
      }
      Object[] values = new Object[targets.length];
      Iterator<Object> it = Py.iterate(f.r, value);
      for (int i = 0; i < values.length; i++) {
        if (!it.hasNext()) {
          throw PyError.value(
              "not enough values to unpack (expected " + values.length + ", got " + i + ")");
        }
        values[i] = it.next();
      }
      if (it.hasNext()) {
        throw PyError.value("too many values to unpack (expected " + values.length + ")");
      }
      for (int i = 0; i < values.length; i++) {
        targets[i].assign(f, values[i]);
      }
    }

    @Override
    Object read(Frame f) {
      Object[] values = new Object[targets.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = targets[i].read(f);
      }
      return new PyTuple(values);
    }
  }
}
