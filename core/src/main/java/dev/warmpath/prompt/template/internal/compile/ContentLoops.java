package dev.warmpath.prompt.template.internal.compile;

import dev.warmpath.prompt.template.internal.syntax.Expr;
import dev.warmpath.prompt.template.internal.syntax.Node;
import dev.warmpath.prompt.template.internal.syntax.Stmt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds out whether a template walks through the parts of a message's content ({@code for part in
 * message.content}), by the rule that engines decide by (vLLM, {@code entrypoints/chat_utils.py};
 * SGLang, {@code jinja_template_utils.py}): a loop over {@code content} of a variable that a loop
 * over {@code messages}, or over what was assigned from it, has bound.
 */
final class ContentLoops {
  private final List<Stmt.For> loops = new ArrayList<>();
  private final List<Stmt.Assign> assignments = new ArrayList<>();

  private ContentLoops() {}

  static boolean in(List<Stmt> template) {
    ContentLoops found = new ContentLoops();
    template.forEach(found::visit);
    return found.decide();
  }

  private void visit(Node node) {
    if (node instanceof Stmt.For loop) {
      loops.add(loop);
    } else if (node instanceof Stmt.Assign assignment) {
      assignments.add(assignment);
    }
    node.children(this::visit);
  }

  private boolean decide() {
    Set<String> lists = new HashSet<>();
    lists.add("messages");
    boolean grew = true;
    while (grew) {
      grew = false;
      for (Stmt.Assign assignment : assignments) {
        if (assignment.target() instanceof Expr.Name target
            && root(assignment.value()) instanceof Expr.Name source
            && lists.contains(source.name())) {
          grew |= lists.add(target.name());
        }
      }
    }
    Set<String> messages = new HashSet<>();
    for (Stmt.For loop : loops) {
      if (loop.target() instanceof Expr.Name target
          && root(loop.iterable()) instanceof Expr.Name source
          && lists.contains(source.name())) {
        messages.add(target.name());
      }
    }
    for (Stmt.For loop : loops) {
      Expr object = contentOf(root(loop.iterable()));
      if (object instanceof Expr.Name name && messages.contains(name.name())) {
        return true;
      }
    }
    return false;
  }

  /** What is left of an expression without its filters, tests and slices. */
  private static Expr root(Expr expression) {
    Expr at = expression;
    while (true) {
      Expr inner = null;
      if (at instanceof Expr.Filter filter) {
        inner = filter.value();
      } else if (at instanceof Expr.Test test) {
        inner = test.value();
      } else if (at instanceof Expr.Item item && item.key() instanceof Expr.Slice) {
        inner = item.object();
      }
      if (inner == null) {
        return at;
      }
      at = inner;
    }
  }

  /** The object whose {@code content} an expression reads, or the expression itself. */
  private static Expr contentOf(Expr expression) {
    if (expression instanceof Expr.Attribute attribute && attribute.name().equals("content")) {
      return attribute.object();
    }
    if (expression instanceof Expr.Item item
        && item.key() instanceof Expr.Const key
        && key.value().equals("content")) {
      return item.object();
    }
    // A loop over the message itself is none over its content.
    return new Expr.Const(expression.line(), "");
  }
}
