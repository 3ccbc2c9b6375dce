package dev.warmpath.prompt.template.internal.compile;

import dev.warmpath.prompt.template.internal.exec.Escaping;

/** Where a statement stands: Jinja2's {@code Frame}. */
final class Scope {
  final FunctionScope function;
  final Symbols symbols;

  /** Whether what is set here belongs to the top level: the template itself and branches in it. */
  final boolean topLevel;

  /** Whether this is a branch, where a filter need only exist once it is reached. */
  final boolean soft;

  final Escaping escaping;

  private Scope(
      FunctionScope function, Symbols symbols, boolean topLevel, boolean soft, Escaping escaping) {
    this.function = function;
    this.symbols = symbols;
    this.topLevel = topLevel;
    this.soft = soft;
    this.escaping = escaping;
  }

  static Scope outermost(boolean topLevel) {
    Symbols symbols = new Symbols(null, 0);
    return new Scope(new FunctionScope(null, 0), symbols, topLevel, false, Escaping.OFF);
  }

  /** A scope within the same function. */
  Scope inner() {
    return new Scope(function, symbols.inner(), false, false, escaping);
  }

  /** The same scope as part of another function. */
  Scope in(FunctionScope other) {
    return new Scope(other, symbols, topLevel, soft, escaping);
  }

  /** A scope that is the outermost of a function of its own. */
  Scope innerFunction() {
    Symbols inner = symbols.inner();
    return new Scope(new FunctionScope(function, inner.level()), inner, false, false, escaping);
  }

  Scope branch() {
    return new Scope(function, symbols.copy(), topLevel, true, escaping);
  }

  Scope escaping(Escaping other) {
    return new Scope(function, symbols, topLevel, soft, other);
  }
}
