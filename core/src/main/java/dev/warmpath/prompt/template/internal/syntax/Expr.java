package dev.warmpath.prompt.template.internal.syntax;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An expression. */
public sealed interface Expr extends Node {
  /** What a name is used for. */
  enum Use {
    /** Its value is read. */
    LOAD,
    /** A value is assigned to it. */
    STORE,
    /** It is a parameter. */
    PARAM
  }

  /** Operators of two operands. */
  enum BinaryOp {
    /** {@code +}. */
    ADD,
    /** {@code -}. */
    SUB,
    /** {@code *}. */
    MUL,
    /** {@code /}. */
    DIV,
    /** {@code //}. */
    FLOORDIV,
    /** {@code %}. */
    MOD,
    /** {@code **}. */
    POW,
    /** {@code and}. */
    AND,
    /** {@code or}. */
    OR
  }

  /** Operators of one operand. */
  enum UnaryOp {
    /** {@code not}. */
    NOT,
    /** {@code -}. */
    NEG,
    /** {@code +}. */
    POS
  }

  /** Comparisons. */
  enum CompareOp {
    /** {@code ==}. */
    EQ,
    /** {@code !=}. */
    NE,
    /** {@code <}. */
    LT,
    /** {@code <=}. */
    LTEQ,
    /** {@code >}. */
    GT,
    /** {@code >=}. */
    GTEQ,
    /** {@code in}. */
    IN,
    /** {@code not in}. */
    NOT_IN
  }

  /** A variable. */
  record Name(int line, String name, Use use) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {}
  }

  /** An attribute of a namespace as the target of an assignment. */
  record NsRef(int line, String name, String attribute) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {}
  }

  /** A literal. */
  record Const(int line, Object value) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {}
  }

  /** Text outside of all tags. */
  record TemplateData(int line, String data) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {}
  }

  /** A tuple, of values or of targets. */
  record TupleExpr(int line, List<Expr> items) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      items.forEach(visitor);
    }
  }

  /** A list. */
  record ListExpr(int line, List<Expr> items) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      items.forEach(visitor);
    }
  }

  /** A dict. */
  record DictExpr(int line, List<Pair> items) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      items.forEach(visitor);
    }
  }

  /** A key and its value in a dict. */
  record Pair(int line, Expr key, Expr value) implements Node {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(key);
      visitor.accept(value);
    }
  }

  /** An inline {@code if}. */
  record Conditional(int line, Expr test, Expr then, @Nullable Expr otherwise) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(test);
      visitor.accept(then);
      visit(visitor, otherwise);
    }
  }

  /** A keyword argument. */
  record Keyword(int line, String key, Expr value) implements Node {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(value);
    }
  }

  /** The arguments of a call, a filter or a test. */
  record Arguments(
      List<Expr> positional,
      List<Keyword> keywords,
      @Nullable Expr more,
      @Nullable Expr moreKeywords) {
    /** No arguments. */
    static final Arguments NONE = new Arguments(List.of(), List.of(), null, null);

    void visit(Consumer<Node> visitor) {
      positional.forEach(visitor);
      keywords.forEach(visitor);
      Expr.visit(visitor, more);
      Expr.visit(visitor, moreKeywords);
    }
  }

  /** A filter; without a value it applies to the block it stands for. */
  record Filter(int line, @Nullable Expr value, String name, Arguments arguments) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visit(visitor, value);
      arguments.visit(visitor);
    }
  }

  /** A test behind {@code is}. */
  record Test(int line, Expr value, String name, Arguments arguments) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(value);
      arguments.visit(visitor);
    }
  }

  /** A call. */
  record Call(int line, Expr callee, Arguments arguments) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(callee);
      arguments.visit(visitor);
    }
  }

  /** {@code object[key]}. */
  record Item(int line, Expr object, Expr key) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(object);
      visitor.accept(key);
    }
  }

  /** {@code object.name}. */
  record Attribute(int line, Expr object, String name) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(object);
    }
  }

  /** {@code start:stop:step} between brackets. */
  record Slice(int line, @Nullable Expr start, @Nullable Expr stop, @Nullable Expr step)
      implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visit(visitor, start);
      visit(visitor, stop);
      visit(visitor, step);
    }
  }

  /** Operands joined by {@code ~}. */
  record Concat(int line, List<Expr> operands) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      operands.forEach(visitor);
    }
  }

  /** A comparison with what follows it. */
  record Operand(int line, CompareOp op, Expr value) implements Node {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(value);
    }
  }

  /** A chain of comparisons. */
  record Comparison(int line, Expr first, List<Operand> operands) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(first);
      operands.forEach(visitor);
    }
  }

  /** Two operands and an operator. */
  record Binary(int line, BinaryOp op, Expr left, Expr right) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(left);
      visitor.accept(right);
    }
  }

  /** One operand and an operator. */
  record Unary(int line, UnaryOp op, Expr operand) implements Expr {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(operand);
    }
  }

  private static void visit(Consumer<Node> visitor, @Nullable Expr expr) {
    if (expr != null) {
      visitor.accept(expr);
    }
  }
}
