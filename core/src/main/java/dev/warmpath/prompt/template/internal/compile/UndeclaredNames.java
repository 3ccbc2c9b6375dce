package dev.warmpath.prompt.template.internal.compile;

import dev.warmpath.prompt.template.internal.syntax.Expr;
import dev.warmpath.prompt.template.internal.syntax.Node;
import dev.warmpath.prompt.template.internal.syntax.Stmt;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Finds which of some names are read before anything is stored in them. */
final class UndeclaredNames {
  private final Set<String> names;
  private final Set<String> undeclared = new HashSet<>();

  private UndeclaredNames(Set<String> names) {
    this.names = new HashSet<>(names);
  }

  static Set<String> find(List<? extends Node> nodes, String... names) {
    UndeclaredNames finder = new UndeclaredNames(Set.of(names));
    nodes.forEach(finder::visit);
    return finder.undeclared;
  }

  private void visit(Node node) {
    if (node instanceof Expr.Name name) {
      if (name.use() == Expr.Use.LOAD && names.contains(name.name())) {
        undeclared.add(name.name());
      } else {
        names.remove(name.name());
      }
    } else if (!(node instanceof Stmt.Block)) {
      node.children(this::visit);
    }
  }
}
