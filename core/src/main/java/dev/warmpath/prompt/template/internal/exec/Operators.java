package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.ArrayList;
import java.util.List;

/** Expressions made of operators. */
public final class Operators {
  private Operators() {}

  /** What an operator of two operands does. */
  @FunctionalInterface
  public interface BinaryFunction {
    /** Computes. */
    Object apply(Rendering r, Object a, Object b);
  }

  /** Arithmetic on two operands. */
  public static final class Binary extends Expression {
    private final BinaryFunction function;
    private final Expression left;
    private final Expression right;

    /** An operator and its operands. */
    public Binary(BinaryFunction function, Expression left, Expression right) {
      this.function = function;
      this.left = left;
      this.right = right;
    }

    @Override
    public Object eval(Frame f) {
      return function.apply(f.r, left.eval(f), right.eval(f));
    }
  }

  /** {@code +}, which templates use most. */
  public static final class Add extends Expression {
    private final Expression left;
    private final Expression right;

    /** Two operands. */
    public Add(Expression left, Expression right) {
      this.left = left;
      this.right = right;
    }

    @Override
    public Object eval(Frame f) {
      return Arithmetic.add(f.r, left.eval(f), right.eval(f));
    }

    /** What is added up, in order. */
    List<Expression> operands() {
      List<Expression> operands = new ArrayList<>();
      if (left instanceof Add sum) {
        operands.addAll(sum.operands());
      } else {
        operands.add(left);
      }
      operands.add(right);
      return operands;
    }
  }

  /** {@code and}. */
  public static final class And extends Expression {
    private final Expression left;
    private final Expression right;

    /** Two operands. */
    public And(Expression left, Expression right) {
      this.left = left;
      this.right = right;
    }

    @Override
    public Object eval(Frame f) {
      Object value = left.eval(f);
      return Py.isTrue(f.r, value) ? right.eval(f) : value;
    }

    @Override
    public boolean test(Frame f) {
      return left.test(f) && right.test(f);
    }
  }

  /** {@code or}. */
  public static final class Or extends Expression {
    private final Expression left;
    private final Expression right;

    /** Two operands. */
    public Or(Expression left, Expression right) {
      this.left = left;
      this.right = right;
    }

    @Override
    public Object eval(Frame f) {
      Object value = left.eval(f);
      return Py.isTrue(f.r, value) ? value : right.eval(f);
    }

    @Override
    public boolean test(Frame f) {
      return left.test(f) || right.test(f);
    }
  }

  /** {@code not}. */
  public static final class Not extends Expression {
    private final Expression operand;

    /** The operand. */
    public Not(Expression operand) {
      this.operand = operand;
    }

    @Override
    public Object eval(Frame f) {
      return !operand.test(f);
    }

    @Override
    public boolean test(Frame f) {
      return !operand.test(f);
    }
  }

  /** A sign. */
  public static final class Sign extends Expression {
    private final boolean negative;
    private final Expression operand;

    /** A minus or plus, and the operand. */
    public Sign(boolean negative, Expression operand) {
      this.negative = negative;
      this.operand = operand;
    }

    @Override
    public Object eval(Frame f) {
      Object value = operand.eval(f);
      return negative ? Arithmetic.negate(value) : Arithmetic.plus(value);
    }
  }

  /** How two values are compared. */
  @FunctionalInterface
  public interface Comparator {
    /** Compares. */
    boolean test(Rendering r, Object a, Object b);
  }

  /** A comparison of two values. */
  public static final class Comparison extends Expression {
    private final Expression left;
    private final Comparator comparator;
    private final Expression right;

    /** Two operands and what lies between them. */
    public Comparison(Expression left, Comparator comparator, Expression right) {
      this.left = left;
      this.comparator = comparator;
      this.right = right;
    }

    @Override
    public Object eval(Frame f) {
      return test(f);
    }

    @Override
    public boolean test(Frame f) {
      return comparator.test(f.r, left.eval(f), right.eval(f));
    }
  }

  /** A chain of comparisons, each value computed once and none behind the first that fails. */
  public static final class ComparisonChain extends Expression {
    private final Expression first;
    private final Comparator[] comparators;
    private final Expression[] rest;

    /** The first value, and comparisons with others. */
    public ComparisonChain(Expression first, List<Comparator> comparators, List<Expression> rest) {
      this.first = first;
      this.comparators = comparators.toArray(new Comparator[0]);
      this.rest = rest.toArray(new Expression[0]);
    }

    @Override
    public Object eval(Frame f) {
      return test(f);
    }

    @Override
    public boolean test(Frame f) {
      Object left = first.eval(f);
      for (int i = 0; i < rest.length; i++) {
        Object right = rest[i].eval(f);
        if (!comparators[i].test(f.r, left, right)) {
          return false;
        }
        left = right;
      }
      return true;
    }
  }

  /** {@code ==}. */
  public static boolean equal(Rendering r, Object a, Object b) {
    return Compare.equal(r, a, b);
  }

  /** {@code !=}. */
  public static boolean notEqual(Rendering r, Object a, Object b) {
    return !Compare.equal(r, a, b);
  }

  /** {@code a in b}. */
  public static boolean in(Rendering r, Object a, Object b) {
    return Compare.contains(r, b, a);
  }

  /** {@code a not in b}. */
  public static boolean notIn(Rendering r, Object a, Object b) {
    return !Compare.contains(r, b, a);
  }

  /** {@code ~}. */
  public static final class Concat extends Expression {
    private final Expression[] operands;
    private final Escaping escaping;

    /** The operands, and whether they may have to be escaped. */
    public Concat(List<Expression> operands, Escaping escaping) {
      this.operands = operands.toArray(new Expression[0]);
      this.escaping = escaping;
    }

    @Override
    public Object eval(Frame f) {
      Object[] values = new Object[operands.length];
      boolean markup = false;
      for (int i = 0; i < values.length; i++) {
        values[i] = operands[i].eval(f);
        markup |= values[i] instanceof Markup;
      }
      boolean escape = markup && escaping.isOn(f.r);
      StringBuilder joined = new StringBuilder();
      for (Object value : values) {
        if (escape) {
          joined.append(Markup.escape(f.r, value).text());
        } else {
          Py.appendStr(f.r, joined, value);
        }
      }
      f.r.chargeChars(joined.length());
      return escape ? new Markup(joined.toString()) : joined.toString();
    }
  }

  /** An inline {@code if}. */
  public static final class Conditional extends Expression {
    private final Expression test;
    private final Expression then;
    private final Expression otherwise;

    /** A test and the two values. */
    public Conditional(Expression test, Expression then, Expression otherwise) {
      this.test = test;
      this.then = then;
      this.otherwise = otherwise;
    }

    @Override
    public Object eval(Frame f) {
      return test.test(f) ? then.eval(f) : otherwise.eval(f);
    }
  }

  /** The missing {@code else} of an inline {@code if}. */
  public static final class NoElse extends Expression {
    private final int line;

    /** The line of the {@code if}. */
    public NoElse(int line) {
      this.line = line;
    }

    @Override
    public Object eval(Frame f) {
      return Undefined.because(
          "the inline if-expression on line "
              + line
              + " evaluated to false and no else section was defined.");
    }
  }
}
