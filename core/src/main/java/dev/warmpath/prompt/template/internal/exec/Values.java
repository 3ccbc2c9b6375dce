package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.library.Access;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyDict;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Literals, and reading from values. */
public final class Values {
  private Values() {}

  /** A value known beforehand. */
  public static final class Constant extends Expression {
    private final Object value;

    /** The value. */
    public Constant(Object value) {
      this.value = value;
    }

    /** The value. */
    public Object value() {
      return value;
    }

    /** The value's text. */
    public String text() {
      return Py.str(Frame.forConstants().r, value);
    }

    @Override
    public Object eval(Frame f) {
      return value;
    }
  }

  /** A literal of constants is a constant itself: nothing can change it. */
  public static Expression folded(Expression literal, List<Expression> parts) {
    if (!parts.stream().allMatch(Constant.class::isInstance)) {
      return literal;
    }
    try {
      return new Constant(literal.eval(Frame.forConstants()));
    } catch (PyError e) {
      return literal;
    }
  }

  /** What raises an error when it is reached. */
  public static final class Failure extends Expression {
    private final Supplier<PyError> error;

    /** The error. */
    public Failure(Supplier<PyError> error) {
      this.error = error;
    }

    @Override
    public Object eval(Frame f) {
      throw error.get();
    }
  }

  /** A list. */
  public static final class ListOf extends Expression {
    private final Expression[] items;

    /** The items. */
    public ListOf(List<Expression> items) {
      this.items = items.toArray(new Expression[0]);
    }

    @Override
    public Object eval(Frame f) {
      f.r.charge(items.length);
      List<Object> list = new ArrayList<>(items.length);
      for (Expression item : items) {
        list.add(item.eval(f));
      }
      return list;
    }
  }

  /** A tuple. */
  public static final class TupleOf extends Expression {
    private final Expression[] items;

    /** The items. */
    public TupleOf(List<Expression> items) {
      this.items = items.toArray(new Expression[0]);
    }

    @Override
    public Object eval(Frame f) {
      f.r.charge(items.length);
      Object[] values = new Object[items.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = items[i].eval(f);
      }
      return new PyTuple(values);
    }
  }

  /** A dict. */
  public static final class DictOf extends Expression {
    private final Expression[] keys;
    private final Expression[] values;

    /** As many keys as values. */
    public DictOf(List<Expression> keys, List<Expression> values) {
      this.keys = keys.toArray(new Expression[0]);
      this.values = values.toArray(new Expression[0]);
    }

    @Override
    public Object eval(Frame f) {
      f.r.charge(keys.length);
      PyDict dict = new PyDict();
      for (int i = 0; i < keys.length; i++) {
        dict.set(f.r, keys[i].eval(f), values[i].eval(f));
      }
      return dict;
    }
  }

  /** {@code object.name}. */
  public static final class Attribute extends Expression {
    private final Expression object;
    private final Access.Attribute attribute;

    /** The object and the name. */
    public Attribute(Expression object, String name) {
      this.object = object;
      this.attribute = new Access.Attribute(name);
    }

    @Override
    public Object eval(Frame f) {
      return attribute.of(f.r, object.eval(f));
    }
  }

  /** {@code object[key]}. */
  public static final class Item extends Expression {
    private final Expression object;
    private final Expression key;

    /** The object and the key. */
    public Item(Expression object, Expression key) {
      this.object = object;
      this.key = key;
    }

    @Override
    public Object eval(Frame f) {
      return Access.item(f.r, object.eval(f), key.eval(f));
    }
  }

  /** {@code object[start:stop:step]}. */
  public static final class Slice extends Expression {
    private final Expression object;
    private final Expression start;
    private final Expression stop;
    private final Expression step;

    /** The object and the bounds, which are None where left out. */
    public Slice(Expression object, Expression start, Expression stop, Expression step) {
      this.object = object;
      this.start = start;
      this.stop = stop;
      this.step = step;
    }

    @Override
    public Object eval(Frame f) {
      return Py.slice(f.r, object.eval(f), start.eval(f), stop.eval(f), step.eval(f));
    }
  }
}
