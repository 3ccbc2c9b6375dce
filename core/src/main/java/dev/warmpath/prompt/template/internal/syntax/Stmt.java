package dev.warmpath.prompt.template.internal.syntax;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A statement. */
public sealed interface Stmt extends Node {
  /** Text and values to print. */
  record Output(int line, List<Expr> parts) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      parts.forEach(visitor);
    }
  }

  /** {@code if}, with its further branches, which have no branches of their own. */
  record If(int line, Expr test, List<Stmt> body, List<If> elifs, List<Stmt> otherwise)
      implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(test);
      body.forEach(visitor);
      elifs.forEach(visitor);
      otherwise.forEach(visitor);
    }
  }

  /** {@code for}. */
  record For(
      int line,
      Expr target,
      Expr iterable,
      List<Stmt> body,
      List<Stmt> otherwise,
      @Nullable Expr test,
      boolean recursive)
      implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(target);
      visitor.accept(iterable);
      body.forEach(visitor);
      otherwise.forEach(visitor);
      if (test != null) {
        visitor.accept(test);
      }
    }
  }

  /** What a macro and a call block share. */
  sealed interface MacroLike extends Stmt permits Macro, CallBlock, Generation {
    /** Parameters. */
    List<Expr.Name> parameters();

    /** Defaults of the last parameters. */
    List<Expr> defaults();

    /** Body. */
    List<Stmt> body();
  }

  /** {@code macro}. */
  record Macro(
      int line, String name, List<Expr.Name> parameters, List<Expr> defaults, List<Stmt> body)
      implements MacroLike {
    @Override
    public void children(Consumer<Node> visitor) {
      parameters.forEach(visitor);
      defaults.forEach(visitor);
      body.forEach(visitor);
    }
  }

  /** {@code call}. */
  record CallBlock(
      int line, Expr.Call call, List<Expr.Name> parameters, List<Expr> defaults, List<Stmt> body)
      implements MacroLike {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(call);
      parameters.forEach(visitor);
      defaults.forEach(visitor);
      body.forEach(visitor);
    }
  }

  /** {@code generation}: a call block whose caller is called at once. */
  record Generation(int line, List<Stmt> body) implements MacroLike {
    @Override
    public List<Expr.Name> parameters() {
      return List.of();
    }

    @Override
    public List<Expr> defaults() {
      return List.of();
    }

    @Override
    public void children(Consumer<Node> visitor) {
      body.forEach(visitor);
    }
  }

  /** {@code filter}. */
  record FilterBlock(int line, List<Stmt> body, Expr.Filter filter) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      body.forEach(visitor);
      visitor.accept(filter);
    }
  }

  /** {@code with}. */
  record With(int line, List<Expr> targets, List<Expr> values, List<Stmt> body) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      targets.forEach(visitor);
      values.forEach(visitor);
      body.forEach(visitor);
    }
  }

  /** {@code set} with a value. */
  record Assign(int line, Expr target, Expr value) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(target);
      visitor.accept(value);
    }
  }

  /** {@code set} with a body. */
  record AssignBlock(int line, Expr target, Expr.@Nullable Filter filter, List<Stmt> body)
      implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(target);
      if (filter != null) {
        visitor.accept(filter);
      }
      body.forEach(visitor);
    }
  }

  /** {@code block}. */
  record Block(int line, String name, List<Stmt> body, boolean scoped, boolean required)
      implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      body.forEach(visitor);
    }
  }

  /** {@code extends}. */
  record Extends(int line, Expr template) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(template);
    }
  }

  /** {@code include}. */
  record Include(int line, Expr template, boolean ignoreMissing) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(template);
    }
  }

  /** {@code import} and {@code from ... import}, with the names they would set. */
  record Import(int line, Expr template, List<String> names) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(template);
    }
  }

  /** {@code autoescape}. */
  record Autoescape(int line, Expr value, List<Stmt> body) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {
      visitor.accept(value);
      body.forEach(visitor);
    }
  }

  /** {@code break}. */
  record Break(int line) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {}
  }

  /** {@code continue}. */
  record Continue(int line) implements Stmt {
    @Override
    public void children(Consumer<Node> visitor) {}
  }
}
