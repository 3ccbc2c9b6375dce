package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.library.Access;
import dev.warmpath.prompt.template.internal.library.Function;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.Undefined;

/** Calls of functions, methods, filters and tests. */
public final class Calls {
  private Calls() {}

  /** A call of a value. */
  public static final class Call extends Expression {
    private final Expression callee;
    private final Arguments arguments;

    /** What is called, with what. */
    public Call(Expression callee, Arguments arguments) {
      this.callee = callee;
      this.arguments = arguments;
    }

    @Override
    public Object eval(Frame f) {
      Object function = callee.eval(f);
      return Py.call(f.r, function, arguments.eval(f));
    }

    /** Calls it with a keyword argument {@code caller} as well. */
    Object eval(Frame f, Macro caller) {
      Object function = callee.eval(f);
      return Py.call(f.r, function, arguments.eval(f, caller));
    }
  }

  /** A call of an object's attribute, which mostly is a method of a built-in type. */
  public static final class MethodCall extends Expression {
    private final Expression object;
    private final Access.Attribute attribute;
    private final Arguments arguments;

    /** The object, the method and its arguments. */
    public MethodCall(Expression object, String method, Arguments arguments) {
      this.object = object;
      this.attribute = new Access.Attribute(method);
      this.arguments = arguments;
    }

    @Override
    public Object eval(Frame f) {
      Object self = object.eval(f);
      var method = attribute.builtInMethod(self);
      if (method != null) {
        f.r.charge();
        return method.call(f.r, self, arguments.eval(f));
      }
      Object function = attribute.of(f.r, self);
      return Py.call(f.r, function, arguments.eval(f));
    }
  }

  /** A filter applied to a value. */
  public static final class Filter extends Expression {
    private final Function filter;
    private final Expression value;
    private final Arguments arguments;

    /** The filter, the value and further arguments. */
    public Filter(Function filter, Expression value, Arguments arguments) {
      this.filter = filter;
      this.value = value;
      this.arguments = arguments;
    }

    @Override
    public Object eval(Frame f) {
      Object first = value.eval(f);
      f.r.charge();
      return filter.call(f.r, arguments.eval(f).prepend(first));
    }
  }

  /** A test of a value. */
  public static final class Test extends Expression {
    private final Function test;
    private final Expression value;
    private final Arguments arguments;

    /** The test, the value and further arguments. */
    public Test(Function test, Expression value, Arguments arguments) {
      this.test = test;
      this.value = value;
      this.arguments = arguments;
    }

    @Override
    public Object eval(Frame f) {
      Object first = value.eval(f);
      return test.call(f.r, arguments.eval(f).prepend(first));
    }
  }

  /** {@code is defined}, or the opposite. */
  public static final class Defined extends Expression {
    private final Expression value;
    private final boolean expected;

    /** The value, and what is asked for. */
    public Defined(Expression value, boolean expected) {
      this.value = value;
      this.expected = expected;
    }

    @Override
    public Object eval(Frame f) {
      return test(f);
    }

    @Override
    public boolean test(Frame f) {
      return value.eval(f) instanceof Undefined != expected;
    }
  }
}
