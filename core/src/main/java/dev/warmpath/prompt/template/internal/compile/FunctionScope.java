package dev.warmpath.prompt.template.internal.compile;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One function of the translated template: it owns the variables on its level of nesting and
 * deeper, those on outer levels belong to the functions around it.
 */
final class FunctionScope {
  private final @Nullable FunctionScope outer;
  private final int level;
  private final Map<Ident, Integer> slots = new HashMap<>();
  private int size;
  private int loopDepth;

  FunctionScope(@Nullable FunctionScope outer, int level) {
    this.outer = outer;
    this.level = level;
  }

  /** How many functions out a variable lives. */
  int hops(Ident ident) {
    int hops = 0;
    for (FunctionScope f = this; f.outer != null && ident.level() < f.level; f = f.outer) {
      hops++;
    }
    return hops;
  }

  /** The slot of a variable in the function it lives in. */
  int slot(Ident ident) {
    FunctionScope owner = this;
    while (owner.outer != null && ident.level() < owner.level) {
      owner = owner.outer;
    }
    return owner.slots.computeIfAbsent(ident, owner::allocate);
  }

  private int allocate(Ident ident) {
    return size++;
  }

  /** A slot for a value in between. */
  int temporary() {
    return size++;
  }

  /** Slots so far. */
  int size() {
    return size;
  }

  void enterLoop() {
    loopDepth++;
  }

  void leaveLoop() {
    loopDepth--;
  }

  boolean isInLoop() {
    return loopDepth > 0;
  }
}
