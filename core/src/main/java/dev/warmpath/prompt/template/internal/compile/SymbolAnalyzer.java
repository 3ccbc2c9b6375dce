package dev.warmpath.prompt.template.internal.compile;

import dev.warmpath.prompt.template.internal.syntax.Expr;
import dev.warmpath.prompt.template.internal.syntax.Node;
import dev.warmpath.prompt.template.internal.syntax.Stmt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells a scope which names its statements load and store, and stops where a scope of its own
 * begins.
 */
final class SymbolAnalyzer {
  private Symbols symbols;

  private SymbolAnalyzer(Symbols symbols) {
    this.symbols = symbols;
  }

  /** Analyzes the statements of a scope. */
  static void statements(Symbols symbols, List<? extends Node> nodes) {
    SymbolAnalyzer analyzer = new SymbolAnalyzer(symbols);
    nodes.forEach(analyzer::visit);
  }

  /** Analyzes parameters, defaults and body of a macro or call block. */
  static void macro(Symbols symbols, Stmt.MacroLike macro) {
    statements(symbols, macro.parameters());
    statements(symbols, macro.defaults());
    statements(symbols, macro.body());
  }

  /** Declares the targets of a loop, then analyzes what its scope holds. */
  static void loop(Symbols symbols, Expr target, List<? extends Node> nodes) {
    SymbolAnalyzer analyzer = new SymbolAnalyzer(symbols);
    analyzer.declare(target);
    nodes.forEach(analyzer::visit);
  }

  private void declare(Expr target) {
    if (target instanceof Expr.Name name) {
      symbols.declareParameter(name.name());
    } else if (target instanceof Expr.TupleExpr tuple) {
      tuple.items().forEach(this::declare);
    }
  }

  private void visit(@Nullable Node node) {
    if (node == null) {
      return;
    }
    if (node instanceof Expr.Name name) {
      switch (name.use()) {
        case LOAD -> symbols.load(name.name());
        case STORE -> symbols.store(name.name());
        case PARAM -> symbols.declareParameter(name.name());
      }
    } else if (node instanceof Expr.NsRef ref) {
      symbols.load(ref.name());
    } else if (node instanceof Stmt.If statement) {
      branches(statement);
    } else if (node instanceof Stmt.Macro macro) {
      symbols.store(macro.name());
    } else if (node instanceof Stmt.Import statement) {
      visit(statement.template());
      statement.names().forEach(symbols::store);
    } else if (node instanceof Stmt.Assign assign) {
      visit(assign.value());
      visit(assign.target());
    } else if (node instanceof Stmt.For loop) {
      visit(loop.iterable());
    } else if (node instanceof Stmt.CallBlock block) {
      visit(block.call());
    } else if (node instanceof Stmt.FilterBlock block) {
      visit(block.filter());
    } else if (node instanceof Stmt.With with) {
      with.values().forEach(this::visit);
    } else if (node instanceof Stmt.AssignBlock block) {
      visit(block.target());
    } else if (!(node instanceof Stmt.Autoescape
        || node instanceof Stmt.Block
        || node instanceof Stmt.Generation)) {
      node.children(this::visit);
    }
  }

  private void branches(Stmt.If statement) {
    visit(statement.test());
    Symbols original = symbols;
    Symbols body = branch(original, statement.body());
    Symbols elifs = branch(original, statement.elifs());
    Symbols otherwise = branch(original, statement.otherwise());
    symbols = original;
    symbols.mergeBranches(List.of(body, elifs, otherwise));
  }

  private Symbols branch(Symbols original, List<? extends Node> nodes) {
    symbols = original.copy();
    Symbols branch = symbols;
    nodes.forEach(this::visit);
    return branch;
  }
}
