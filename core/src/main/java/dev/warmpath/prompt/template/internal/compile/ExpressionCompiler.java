package dev.warmpath.prompt.template.internal.compile;

import dev.warmpath.prompt.template.internal.exec.Arguments;
import dev.warmpath.prompt.template.internal.exec.Calls;
import dev.warmpath.prompt.template.internal.exec.Expression;
import dev.warmpath.prompt.template.internal.exec.Operators;
import dev.warmpath.prompt.template.internal.exec.Values;
import dev.warmpath.prompt.template.internal.exec.Variable;
import dev.warmpath.prompt.template.internal.library.Filters;
import dev.warmpath.prompt.template.internal.library.Function;
import dev.warmpath.prompt.template.internal.library.Tests;
import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.syntax.Expr;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Translates expressions. */
final class ExpressionCompiler {
  private static final Set<String> PYTHON_KEYWORDS =
      Set.of(
          "False",
          "None",
          "True",
          "and",
          "as",
          "assert",
          "async",
          "await",
          "break",
          "class",
          "continue",
          "def",
          "del",
          "elif",
          "else",
          "except",
          "finally",
          "for",
          "from",
          "global",
          "if",
          "import",
          "in",
          "is",
          "lambda",
          "nonlocal",
          "not",
          "or",
          "pass",
          "raise",
          "return",
          "try",
          "while",
          "with",
          "yield");

  /** Parameters of macros, innermost first, whose defaults are being computed. */
  private final Deque<Set<Ident>> unsetParameters = new ArrayDeque<>();

  private @Nullable PyError deferred;

  /** Keeps an error that Python finds in the translation: those that Jinja2 finds come first. */
  void defer(PyError error) {
    if (deferred == null) {
      deferred = error;
    }
  }

  /** Throws what was kept. */
  void checkDeferred() {
    if (deferred != null) {
      throw deferred;
    }
  }

  void enterParameters(Symbols symbols) {
    Set<Ident> parameters = new HashSet<>();
    symbols
        .loads()
        .forEach(
            (ident, load) -> {
              if (load instanceof Load.Parameter) {
                parameters.add(ident);
              }
            });
    unsetParameters.push(parameters);
  }

  void parameterIsSet(Ident ident) {
    unsetParameters.element().remove(ident);
  }

  void leaveParameters() {
    unsetParameters.pop();
  }

  static Variable variable(Scope scope, Ident ident, boolean checked) {
    return new Variable(
        scope.function.hops(ident), scope.function.slot(ident), ident.name(), checked);
  }

  static Variable variable(Scope scope, Ident ident, String name) {
    return new Variable(scope.function.hops(ident), scope.function.slot(ident), name, true);
  }

  Expression compile(Expr node, Scope scope) {
    try {
      return translate(node, scope);
    } catch (PyError e) {
      throw e.at(node.line());
    }
  }

  private Expression translate(Expr node, Scope scope) {
    if (node instanceof Expr.Name name) {
      return name(name, scope);
    }
    if (node instanceof Expr.Const constant) {
      return new Values.Constant(constant.value());
    }
    if (node instanceof Expr.Attribute attribute) {
      return new Values.Attribute(compile(attribute.object(), scope), attribute.name());
    }
    if (node instanceof Expr.Item item) {
      return item(item, scope);
    }
    if (node instanceof Expr.Comparison comparison) {
      return comparison(comparison, scope);
    }
    if (node instanceof Expr.Call call) {
      return call(call, scope);
    }
    if (node instanceof Expr.Filter filter) {
      return filter(filter, scope);
    }
    if (node instanceof Expr.Test test) {
      return test(test, scope);
    }
    if (node instanceof Expr.Binary binary) {
      return binary(binary, scope);
    }
    if (node instanceof Expr.Unary unary) {
      return unary(unary, scope);
    }
    if (node instanceof Expr.Concat concat) {
      return new Operators.Concat(compileAll(concat.operands(), scope), scope.escaping);
    }
    if (node instanceof Expr.Conditional conditional) {
      Scope branch = scope.branch();
      Expression then = compile(conditional.then(), branch);
      Expression test = compile(conditional.test(), branch);
      Expr otherwise = conditional.otherwise();
      return new Operators.Conditional(
          test,
          then,
          otherwise == null
              ? new Operators.NoElse(conditional.line())
              : compile(otherwise, branch));
    }
    if (node instanceof Expr.ListExpr list) {
      List<Expression> items = compileAll(list.items(), scope);
      return Values.folded(new Values.ListOf(items), items);
    }
    if (node instanceof Expr.TupleExpr tuple) {
      List<Expression> items = compileAll(tuple.items(), scope);
      return Values.folded(new Values.TupleOf(items), items);
    }
    if (node instanceof Expr.DictExpr dict) {
      List<Expression> keys = new ArrayList<>();
      List<Expression> values = new ArrayList<>();
      for (Expr.Pair pair : dict.items()) {
        keys.add(compile(pair.key(), scope));
        values.add(compile(pair.value(), scope));
      }
      List<Expression> both = new ArrayList<>(keys);
      both.addAll(values);
      return Values.folded(new Values.DictOf(keys, values), both);
    }
    if (node instanceof Expr.Slice) {
      defer(PyError.of("SyntaxError", "invalid syntax"));
      return new Values.Constant(PyNone.NONE);
    }
    throw new IllegalStateException("no translation for " + node.getClass());
  }

  private List<Expression> compileAll(List<Expr> nodes, Scope scope) {
    List<Expression> compiled = new ArrayList<>(nodes.size());
    for (Expr node : nodes) {
      compiled.add(compile(node, scope));
    }
    return compiled;
  }

  private Expression name(Expr.Name name, Scope scope) {
    Ident ident = scope.symbols.ref(name.name());
    boolean parameter = scope.symbols.findLoad(ident) instanceof Load.Parameter;
    boolean unset = !unsetParameters.isEmpty() && unsetParameters.element().contains(ident);
    Variable variable = variable(scope, ident, !parameter || unset);
    return variable;
  }

  private Expression item(Expr.Item item, Scope scope) {
    Expression object = compile(item.object(), scope);
    if (item.key() instanceof Expr.Slice slice) {
      return new Values.Slice(
          object,
          bound(slice.start(), scope),
          bound(slice.stop(), scope),
          bound(slice.step(), scope));
    }
    return new Values.Item(object, compile(item.key(), scope));
  }

  private Expression bound(@Nullable Expr bound, Scope scope) {
    return bound == null ? new Values.Constant(PyNone.NONE) : compile(bound, scope);
  }

  private Expression comparison(Expr.Comparison node, Scope scope) {
    Expression first = compile(node.first(), scope);
    List<Operators.Comparator> comparators = new ArrayList<>();
    List<Expression> rest = new ArrayList<>();
    for (Expr.Operand operand : node.operands()) {
      comparators.add(comparator(operand.op()));
      rest.add(compile(operand.value(), scope));
    }
    return rest.size() == 1
        ? new Operators.Comparison(first, comparators.get(0), rest.get(0))
        : new Operators.ComparisonChain(first, comparators, rest);
  }

  private static Operators.Comparator comparator(Expr.CompareOp op) {
    return switch (op) {
      case EQ -> Operators::equal;
      case NE -> Operators::notEqual;
      case IN -> Operators::in;
      case NOT_IN -> Operators::notIn;
      case LT -> (r, a, b) -> Compare.ordered(r, a, b, Compare.Order.LT);
      case LTEQ -> (r, a, b) -> Compare.ordered(r, a, b, Compare.Order.LE);
      case GT -> (r, a, b) -> Compare.ordered(r, a, b, Compare.Order.GT);
      case GTEQ -> (r, a, b) -> Compare.ordered(r, a, b, Compare.Order.GE);
    };
  }

  private Expression call(Expr.Call call, Scope scope) {
    if (call.callee() instanceof Expr.Attribute attribute) {
      Expression object = compile(attribute.object(), scope);
      return new Calls.MethodCall(object, attribute.name(), arguments(call.arguments(), scope));
    }
    return plainCall(call, scope);
  }

  private Calls.Call plainCall(Expr.Call call, Scope scope) {
    Expression callee = compile(call.callee(), scope);
    return new Calls.Call(callee, arguments(call.arguments(), scope));
  }

  /** The call of a call block. */
  Calls.Call callWithCaller(Expr.Call call, Scope scope) {
    if (call.arguments().keywords().stream().anyMatch(k -> k.key().equals("caller"))) {
      defer(PyError.of("SyntaxError", "keyword argument repeated: caller"));
    }
    return plainCall(call, scope);
  }

  private Arguments arguments(Expr.Arguments node, Scope scope) {
    List<Expression> positional = compileAll(node.positional(), scope);
    List<String> names = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    boolean spelledOut = node.keywords().stream().noneMatch(k -> PYTHON_KEYWORDS.contains(k.key()));
    for (Expr.Keyword keyword : node.keywords()) {
      if (names.contains(keyword.key()) && spelledOut) {
        defer(PyError.of("SyntaxError", "keyword argument repeated: " + keyword.key()));
      }
      names.add(keyword.key());
      values.add(compile(keyword.value(), scope));
    }
    Expression more = node.more() == null ? null : compile(node.more(), scope);
    Expression moreKeywords =
        node.moreKeywords() == null ? null : compile(node.moreKeywords(), scope);
    return new Arguments(positional, names, values, more, moreKeywords);
  }

  private Expression filter(Expr.Filter node, Scope scope) {
    Expr value = node.value();
    if (value == null) {
      throw new IllegalStateException("a filter of a block is no expression");
    }
    return filterOf(node, compile(value, scope), scope);
  }

  /**
   * A filter, or a chain of them, that begins with a value; the chain's own value is the innermost
   * without one.
   */
  Expression filterOf(Expr.Filter node, Expression innermost, Scope scope) {
    Expression value = innermost;
    if (node.value() instanceof Expr.Filter inner && isOfBlock(inner)) {
      value = filterOf(inner, innermost, scope);
    }
    Function filter = Filters.get(node.name());
    if (filter == null) {
      return missing("filter", node.name(), node.line(), scope);
    }
    return new Calls.Filter(filter, value, arguments(node.arguments(), scope));
  }

  private static boolean isOfBlock(Expr.Filter filter) {
    Expr value = filter.value();
    return value == null || (value instanceof Expr.Filter inner && isOfBlock(inner));
  }

  private Expression test(Expr.Test node, Scope scope) {
    Function test = Tests.get(node.name());
    if (test == null) {
      return missing("test", node.name(), node.line(), scope);
    }
    Expression value = compile(node.value(), scope);
    if (node.arguments().positional().isEmpty()
        && node.arguments().keywords().isEmpty()
        && node.arguments().more() == null
        && node.arguments().moreKeywords() == null) {
      if (node.name().equals("defined") || node.name().equals("undefined")) {
        return new Calls.Defined(value, node.name().equals("defined"));
      }
    }
    return new Calls.Test(test, value, arguments(node.arguments(), scope));
  }

  private static Expression missing(String kind, String name, int line, Scope scope) {
    if (!scope.soft) {
      throw PyError.assertion("No " + kind + " named " + Repr.ofString(name) + ".", line);
    }
    return new Values.Failure(
        () -> PyError.runtime("No " + kind + " named " + Repr.ofString(name) + " found."));
  }

  private Expression binary(Expr.Binary node, Scope scope) {
    Expression left = compile(node.left(), scope);
    if (left instanceof Values.Constant constant) {
      // what can never be reached is not even translated
      boolean isTrue = isTrue(constant.value());
      if ((node.op() == Expr.BinaryOp.AND && !isTrue)
          || (node.op() == Expr.BinaryOp.OR && isTrue)) {
        return left;
      }
    }
    Expression right = compile(node.right(), scope);
    return switch (node.op()) {
      case AND -> new Operators.And(left, right);
      case OR -> new Operators.Or(left, right);
      case ADD -> new Operators.Add(left, right);
      case SUB -> new Operators.Binary(Arithmetic::subtract, left, right);
      case MUL -> new Operators.Binary(Arithmetic::multiply, left, right);
      case DIV -> new Operators.Binary(Arithmetic::divide, left, right);
      case FLOORDIV -> new Operators.Binary(Arithmetic::floorDivide, left, right);
      case MOD -> new Operators.Binary(Arithmetic::modulo, left, right);
      case POW -> new Operators.Binary(Arithmetic::power, left, right);
    };
  }

  private static boolean isTrue(Object constant) {
    if (constant instanceof String s) {
      return !s.isEmpty();
    }
    if (constant instanceof Collection<?> c) {
      return !c.isEmpty();
    }
    if (constant instanceof Map<?, ?> m) {
      return !m.isEmpty();
    }
    return constant != PyNone.NONE && Numbers.isTrue(constant);
  }

  private Expression unary(Expr.Unary node, Scope scope) {
    Expression operand = compile(node.operand(), scope);
    return switch (node.op()) {
      case NOT -> new Operators.Not(operand);
      case POS -> new Operators.Sign(false, operand);
      case NEG ->
          operand instanceof Values.Constant constant && constant.value() instanceof Number
              ? new Values.Constant(Arithmetic.negate(constant.value()))
              : new Operators.Sign(true, operand);
    };
  }
}
