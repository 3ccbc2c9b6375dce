package dev.warmpath.prompt.template.internal.compile;

import dev.warmpath.prompt.template.internal.exec.BlockCode;
import dev.warmpath.prompt.template.internal.exec.Body;
import dev.warmpath.prompt.template.internal.exec.Control;
import dev.warmpath.prompt.template.internal.exec.Escaping;
import dev.warmpath.prompt.template.internal.exec.Expression;
import dev.warmpath.prompt.template.internal.exec.Loop;
import dev.warmpath.prompt.template.internal.exec.MacroCode;
import dev.warmpath.prompt.template.internal.exec.Operators;
import dev.warmpath.prompt.template.internal.exec.Program;
import dev.warmpath.prompt.template.internal.exec.ScopeEntry;
import dev.warmpath.prompt.template.internal.exec.Statement;
import dev.warmpath.prompt.template.internal.exec.Target;
import dev.warmpath.prompt.template.internal.exec.TemplateLoad;
import dev.warmpath.prompt.template.internal.exec.Text;
import dev.warmpath.prompt.template.internal.exec.Values;
import dev.warmpath.prompt.template.internal.exec.Variable;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.syntax.Expr;
import dev.warmpath.prompt.template.internal.syntax.Node;
import dev.warmpath.prompt.template.internal.syntax.Parser;
import dev.warmpath.prompt.template.internal.syntax.Stmt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Translates the statements of a template. */
public final class Compiler {
  private final Map<String, Stmt.Block> blocks = new LinkedHashMap<>();
  private final ExpressionCompiler expressions = new ExpressionCompiler();

  private Compiler() {}

  /** Compiles a source; a {@link PyError} where Jinja2's compiler raises one. */
  public static Program compile(String source) {
    return new Compiler().program(Parser.parse(source));
  }

  private Program program(List<Stmt> template) {
    template.forEach(node -> visit(node, this::register));
    Scope scope = Scope.outermost(true);
    int selfSlot = -1;
    if (UndeclaredNames.find(template, "self").contains("self")) {
      selfSlot = scope.function.slot(scope.symbols.declareParameter("self"));
    }
    SymbolAnalyzer.statements(scope.symbols, template);
    ScopeEntry entry = entry(scope);
    Body body = body(template, scope);
    Map<String, BlockCode> compiled = new LinkedHashMap<>();
    blocks.forEach((name, block) -> compiled.put(name, block(name, block)));
    expressions.checkDeferred();
    return new Program(
        scope.function.size(), selfSlot, entry, body, compiled, ContentLoops.in(template));
  }

  private static void visit(Node node, Consumer<Node> visitor) {
    visitor.accept(node);
    node.children(child -> visit(child, visitor));
  }

  private void register(Node node) {
    if (node instanceof Stmt.Block block && blocks.put(block.name(), block) != null) {
      throw PyError.assertion(
          "block " + Repr.ofString(block.name()) + " defined twice", block.line());
    }
  }

  private BlockCode block(String name, Stmt.Block block) {
    Scope scope = Scope.outermost(false);
    Set<String> undeclared = UndeclaredNames.find(block.body(), "self", "super");
    int selfSlot = -1;
    int superSlot = -1;
    if (undeclared.contains("self")) {
      selfSlot = scope.function.slot(scope.symbols.declareParameter("self"));
    }
    if (undeclared.contains("super")) {
      superSlot = scope.function.slot(scope.symbols.declareParameter("super"));
    }
    SymbolAnalyzer.statements(scope.symbols, block.body());
    ScopeEntry entry = entry(scope);
    Body body = body(block.body(), scope);
    return new BlockCode(name, scope.function.size(), selfSlot, superSlot, entry, body);
  }

  /** What entering and leaving a scope does to its variables. */
  private static ScopeEntry entry(Scope scope) {
    List<ScopeEntry.Action> actions = new ArrayList<>();
    List<ScopeEntry.Action> unset = new ArrayList<>();
    List<Integer> all = new ArrayList<>();
    scope
        .symbols
        .loads()
        .forEach(
            (ident, load) -> {
              int slot = scope.function.slot(ident);
              all.add(slot);
              if (load instanceof Load.Resolve resolve) {
                actions.add(new ScopeEntry.Action.Resolve(slot, resolve.name()));
              } else if (load instanceof Load.Alias alias) {
                actions.add(
                    new ScopeEntry.Action.Copy(
                        slot, ExpressionCompiler.variable(scope, alias.outer(), true)));
              } else if (load instanceof Load.Undefined) {
                unset.add(new ScopeEntry.Action.Unset(slot));
              }
            });
    actions.addAll(unset);
    return all.isEmpty()
        ? ScopeEntry.EMPTY
        : new ScopeEntry(actions, all.stream().mapToInt(Integer::intValue).toArray());
  }

  private Body body(List<? extends Stmt> nodes, Scope scope) {
    List<Statement> statements = new ArrayList<>();
    List<Integer> lines = new ArrayList<>();
    for (Stmt node : nodes) {
      if (node instanceof Stmt.Output output) {
        output(output, scope, statements, lines);
      } else {
        statement(node, scope, statements);
      }
      while (lines.size() < statements.size()) {
        lines.add(node.line());
      }
    }
    return new Body(statements, lines.stream().mapToInt(Integer::intValue).toArray());
  }

  private void output(
      Stmt.Output output, Scope scope, List<Statement> statements, List<Integer> lines) {
    StringBuilder fixed = new StringBuilder();
    for (Expr part : output.parts()) {
      if (part instanceof Expr.TemplateData data) {
        fixed.append(data.data());
        continue;
      }
      Expression value = expressions.compile(part, scope);
      // where escaping is settled only while rendering, Jinja2 writes constants as they are
      if (value instanceof Values.Constant constant && scope.escaping != Escaping.ON) {
        fixed.append(constant.text());
        continue;
      }
      flush(fixed, statements);
      while (lines.size() < statements.size()) {
        lines.add(output.line());
      }
      statements.add(
          value instanceof Operators.Add sum && scope.escaping == Escaping.OFF
              ? new Text.PrintSum(sum)
              : new Text.Print(value, scope.escaping));
      lines.add(part.line());
    }
    flush(fixed, statements);
  }

  private static void flush(StringBuilder fixed, List<Statement> statements) {
    if (!fixed.isEmpty()) {
      statements.add(new Text.Fixed(fixed.toString()));
      fixed.setLength(0);
    }
  }

  private void statement(Stmt node, Scope scope, List<Statement> statements) {
    if (node instanceof Stmt.If statement) {
      statements.add(ifStatement(statement, scope));
    } else if (node instanceof Stmt.For loop) {
      statements.add(loop(loop, scope));
    } else if (node instanceof Stmt.Assign assign) {
      Target target = target(assign.target(), scope);
      statements.add(new Control.Assign(target, expressions.compile(assign.value(), scope)));
      export(assign.target(), scope, statements);
    } else if (node instanceof Stmt.AssignBlock block) {
      statements.add(assignBlock(block, scope));
      export(block.target(), scope, statements);
    } else if (node instanceof Stmt.Macro macro) {
      MacroCode code = macro(macro.name(), macro, scope);
      Ident ident = scope.symbols.ref(macro.name());
      statements.add(new Control.DefineMacro(code, new Target.Slot(scope.function.slot(ident))));
      export(List.of(macro.name()), scope, statements);
    } else if (node instanceof Stmt.CallBlock block) {
      MacroCode code = macro("", block, scope);
      statements.add(new Control.CallBlock(code, expressions.callWithCaller(block.call(), scope)));
    } else if (node instanceof Stmt.Generation block) {
      statements.add(new Control.Generation(macro("", block, scope)));
    } else if (node instanceof Stmt.FilterBlock block) {
      statements.add(filterBlock(block, scope));
    } else if (node instanceof Stmt.With with) {
      statements.add(with(with, scope));
    } else if (node instanceof Stmt.Autoescape block) {
      statements.add(autoescape(block, scope));
    } else if (node instanceof Stmt.Block block) {
      statements.add(place(block, scope));
    } else if (node instanceof Stmt.Extends extend) {
      if (!scope.topLevel) {
        throw PyError.assertion("cannot use extend from a non top-level scope", extend.line());
      }
      statements.add(new TemplateLoad(expressions.compile(extend.template(), scope), false, false));
    } else if (node instanceof Stmt.Include include) {
      statements.add(
          new TemplateLoad(
              expressions.compile(include.template(), scope), true, include.ignoreMissing()));
    } else if (node instanceof Stmt.Import statement) {
      statements.add(
          new TemplateLoad(expressions.compile(statement.template(), scope), false, false));
    } else if (node instanceof Stmt.Break) {
      jump(scope, Statement.Outcome.BREAK, "'break' outside loop", statements);
    } else if (node instanceof Stmt.Continue) {
      jump(scope, Statement.Outcome.CONTINUE, "'continue' not properly in loop", statements);
    } else {
      throw new IllegalStateException("no translation for " + node.getClass());
    }
  }

  private void jump(
      Scope scope, Statement.Outcome outcome, String whenOutside, List<Statement> statements) {
    if (!scope.function.isInLoop()) {
      expressions.defer(PyError.of("SyntaxError", whenOutside));
    }
    statements.add(new Control.Jump(outcome));
  }

  private void export(Expr target, Scope scope, List<Statement> statements) {
    List<String> names = new ArrayList<>();
    visit(
        target,
        node -> {
          if (node instanceof Expr.Name name) {
            names.add(name.name());
          }
        });
    export(names, scope, statements);
  }

  /** Lets blocks see what the top level has set. */
  private void export(List<String> names, Scope scope, List<Statement> statements) {
    if (blocks.isEmpty() || !scope.topLevel || names.isEmpty()) {
      return;
    }
    List<Variable> variables = new ArrayList<>();
    for (String name : names) {
      variables.add(ExpressionCompiler.variable(scope, scope.symbols.ref(name), true));
    }
    statements.add(new Control.Export(variables));
  }

  private Target target(Expr target, Scope scope) {
    if (target instanceof Expr.Name name) {
      return new Target.Slot(scope.function.slot(scope.symbols.ref(name.name())));
    }
    if (target instanceof Expr.NsRef ref) {
      Variable variable = ExpressionCompiler.variable(scope, scope.symbols.ref(ref.name()), true);
      return new Target.Attribute(variable, ref.attribute());
    }
    List<Target> targets = new ArrayList<>();
    for (Expr item : ((Expr.TupleExpr) target).items()) {
      targets.add(target(item, scope));
    }
    return new Target.Spread(targets);
  }

  private Statement ifStatement(Stmt.If node, Scope outer) {
    Scope scope = outer.branch();
    List<Expression> tests = new ArrayList<>();
    List<Body> bodies = new ArrayList<>();
    tests.add(expressions.compile(node.test(), scope));
    bodies.add(body(node.body(), scope));
    for (Stmt.If elif : node.elifs()) {
      tests.add(expressions.compile(elif.test(), scope));
      bodies.add(body(elif.body(), scope));
    }
    Body otherwise = node.otherwise().isEmpty() ? null : body(node.otherwise(), scope);
    return new Control.If(tests, bodies, otherwise);
  }

  private Statement loop(Stmt.For node, Scope outer) {
    Scope loopScope = outer.inner();
    Scope elseScope = outer.inner();
    boolean extended =
        node.recursive()
            || UndeclaredNames.find(node.body(), "loop").contains("loop")
            || containsScopedBlock(node);
    Ident loopIdent = extended ? loopScope.symbols.declareParameter("loop") : null;
    SymbolAnalyzer.loop(loopScope.symbols, node.target(), node.body());
    if (!node.otherwise().isEmpty()) {
      SymbolAnalyzer.statements(elseScope.symbols, node.otherwise());
    }
    Loop.Selection selection = selection(node, outer, loopScope);
    visit(node, Compiler::refuseLoopAsTarget);
    Expression iterable = node.recursive() ? null : expressions.compile(node.iterable(), outer);
    if (node.recursive()) {
      FunctionScope function = new FunctionScope(outer.function, loopScope.symbols.level());
      loopScope = loopScope.in(function);
      elseScope = elseScope.in(function);
    }
    Target target = target(node.target(), loopScope);
    int loopSlot = loopIdent == null ? -1 : loopScope.function.slot(loopIdent);
    ScopeEntry entry = entry(loopScope);
    loopScope.function.enterLoop();
    Body body = body(node.body(), loopScope);
    loopScope.function.leaveLoop();
    boolean hasElse = !node.otherwise().isEmpty();
    ScopeEntry elseEntry = hasElse ? entry(elseScope) : ScopeEntry.EMPTY;
    Body otherwise = hasElse ? body(node.otherwise(), elseScope) : null;
    Loop.Rounds rounds =
        new Loop.Rounds(
            selection,
            target,
            loopSlot,
            entry,
            body,
            elseEntry,
            otherwise,
            !node.recursive() || hasElse);
    if (iterable != null) {
      return new Loop(iterable, rounds, null);
    }
    return new Loop(
        expressions.compile(node.iterable(), outer),
        rounds,
        new Loop.Recursive(loopScope.function.size(), outer.escaping));
  }

  private Loop.@Nullable Selection selection(Stmt.For node, Scope outer, Scope loopScope) {
    Expr test = node.test();
    if (test == null) {
      return null;
    }
    Scope scope = outer.innerFunction();
    SymbolAnalyzer.loop(scope.symbols, node.target(), List.of(test));
    ScopeEntry entry = entry(scope);
    Target target = target(node.target(), loopScope.in(scope.function));
    Expression condition = expressions.compile(test, scope);
    return new Loop.Selection(scope.function.size(), entry, target, condition);
  }

  private static boolean containsScopedBlock(Stmt.For node) {
    boolean[] found = {false};
    visit(node, child -> found[0] |= child instanceof Stmt.Block block && block.scoped());
    return found[0];
  }

  private static void refuseLoopAsTarget(Node node) {
    if (node instanceof Expr.Name name
        && name.use() == Expr.Use.STORE
        && name.name().equals("loop")) {
      throw PyError.assertion(
          "Can't assign to special loop variable in for-loop target", name.line());
    }
  }

  private MacroCode macro(String name, Stmt.MacroLike node, Scope outer) {
    Scope scope = outer.innerFunction();
    Symbols symbols = scope.symbols;
    SymbolAnalyzer.macro(symbols, node);
    List<String> parameters = new ArrayList<>();
    int explicitCaller = -1;
    Set<String> seen = new HashSet<>();
    for (Expr.Name parameter : node.parameters()) {
      if (parameter.name().equals("caller")) {
        explicitCaller = parameters.size();
      }
      if (!seen.add(parameter.name())) {
        expressions.defer(
            PyError.of(
                "SyntaxError",
                "duplicate argument 'l_"
                    + symbols.level()
                    + "_"
                    + parameter.name()
                    + "' in function definition"));
      }
      parameters.add(parameter.name());
    }
    Set<String> undeclared = UndeclaredNames.find(node.body(), "caller", "kwargs", "varargs");
    int callerSlot = -1;
    int keywordsSlot = -1;
    int varargsSlot = -1;
    if (undeclared.contains("caller")) {
      if (explicitCaller < 0) {
        callerSlot = scope.function.slot(symbols.declareParameter("caller"));
      } else if (parameters.size() - explicitCaller > node.defaults().size()) {
        throw PyError.assertion(
            "When defining macros or call blocks the special \"caller\" argument must be omitted or"
                + " be given a default.",
            node.line());
      }
    }
    if (undeclared.contains("kwargs") && !parameters.contains("kwargs")) {
      keywordsSlot = scope.function.slot(symbols.declareParameter("kwargs"));
    }
    if (undeclared.contains("varargs") && !parameters.contains("varargs")) {
      varargsSlot = scope.function.slot(symbols.declareParameter("varargs"));
    }
    SymbolAnalyzer.macro(symbols, node);
    ScopeEntry entry = entry(scope);
    int[] slots = new int[parameters.size()];
    List<Expression> defaults = new ArrayList<>();
    expressions.enterParameters(symbols);
    int firstDefault = parameters.size() - node.defaults().size();
    for (int i = 0; i < slots.length; i++) {
      Ident ident = symbols.ref(parameters.get(i));
      slots[i] = scope.function.slot(ident);
      defaults.add(
          i < firstDefault
              ? new MacroCode.Required(parameters.get(i))
              : expressions.compile(node.defaults().get(i - firstDefault), scope));
      expressions.parameterIsSet(ident);
    }
    expressions.leaveParameters();
    Body body = body(node.body(), scope);
    return new MacroCode(
        name,
        parameters,
        slots,
        defaults,
        callerSlot,
        keywordsSlot,
        varargsSlot,
        undeclared.contains("caller"),
        scope.function.size(),
        entry,
        body);
  }

  private Statement filterBlock(Stmt.FilterBlock node, Scope outer) {
    Scope scope = outer.inner();
    SymbolAnalyzer.statements(scope.symbols, node.body());
    SymbolAnalyzer.statements(scope.symbols, List.of(node.filter()));
    ScopeEntry entry = entry(scope);
    Body body = body(node.body(), scope);
    int slot = scope.function.temporary();
    Expression value = expressions.filterOf(node.filter(), new Control.Captured(slot), scope);
    return new Control.Capture(entry, body, slot, value, null, outer.escaping);
  }

  private Statement assignBlock(Stmt.AssignBlock node, Scope outer) {
    Scope scope = outer.inner();
    SymbolAnalyzer.statements(scope.symbols, node.body());
    ScopeEntry entry = entry(scope);
    Body body = body(node.body(), scope);
    Target target = target(node.target(), outer);
    int slot = scope.function.temporary();
    Expression value = new Control.Captured(slot);
    if (node.filter() != null) {
      value = expressions.filterOf(node.filter(), value, scope);
    }
    return new Control.Capture(
        entry, body, slot, value, target, node.filter() == null ? Escaping.OFF : outer.escaping);
  }

  private Statement with(Stmt.With node, Scope outer) {
    Scope scope = outer.inner();
    SymbolAnalyzer.statements(scope.symbols, node.targets());
    SymbolAnalyzer.statements(scope.symbols, node.body());
    ScopeEntry entry = entry(scope);
    List<Target> targets = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    for (int i = 0; i < node.targets().size(); i++) {
      targets.add(target(node.targets().get(i), scope));
      values.add(expressions.compile(node.values().get(i), outer));
    }
    return new Control.With(entry, targets, values, body(node.body(), scope));
  }

  private Statement autoescape(Stmt.Autoescape node, Scope outer) {
    Scope scope = outer.inner();
    SymbolAnalyzer.statements(scope.symbols, List.of(node.value()));
    SymbolAnalyzer.statements(scope.symbols, node.body());
    ScopeEntry entry = entry(scope);
    Expression value = expressions.compile(node.value(), scope);
    Escaping escaping = Escaping.DYNAMIC;
    if (value instanceof Values.Constant constant && outer.escaping != Escaping.DYNAMIC) {
      escaping =
          constant.value() == PyNone.NONE || Boolean.FALSE.equals(constant.value())
              ? Escaping.OFF
              : Boolean.TRUE.equals(constant.value()) ? Escaping.ON : Escaping.DYNAMIC;
    }
    return new Control.Autoescape(entry, value, body(node.body(), scope.escaping(escaping)));
  }

  private static Statement place(Stmt.Block node, Scope scope) {
    List<Variable> locals = new ArrayList<>();
    if (node.scoped()) {
      scope
          .symbols
          .allStores()
          .forEach((name, ident) -> locals.add(ExpressionCompiler.variable(scope, ident, name)));
    }
    return new BlockCode.Place(node.name(), node.required(), node.scoped(), locals);
  }
}
