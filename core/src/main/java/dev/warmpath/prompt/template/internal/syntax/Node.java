package dev.warmpath.prompt.template.internal.syntax;

import java.util.function.Consumer;

/** A node of the syntax tree. */
public sealed interface Node permits Expr, Stmt, Expr.Pair, Expr.Keyword, Expr.Operand {
  /** The line it begins on, from 1. */
  int line();

  /** Gives every child to {@code visitor}, in the order of Jinja2's own node fields. */
  void children(Consumer<Node> visitor);
}
