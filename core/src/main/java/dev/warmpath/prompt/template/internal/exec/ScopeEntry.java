package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Missing;
import java.util.List;

/** What is done with the variables of a scope when it is entered and left. */
public final class ScopeEntry {
  /** A variable that is set on entry. */
  public sealed interface Action {
    /** A variable is looked up in the context. */
    record Resolve(int slot, String name) implements Action {}

    /** A variable starts as a copy of another. */
    record Copy(int slot, Variable source) implements Action {}

    /** A variable starts unset. */
    record Unset(int slot) implements Action {}
  }

  /** A scope without variables. */
  public static final ScopeEntry EMPTY = new ScopeEntry(List.of(), new int[0]);

  private final Action[] actions;
  private final int[] slots;

  /**
   * What to do.
   *
   * @param actions on entry
   * @param slots all variables of the scope, to be unset when it is left
   */
  public ScopeEntry(List<Action> actions, int[] slots) {
    this.actions = actions.toArray(new Action[0]);
    this.slots = slots;
  }

  void enter(Frame f) {
    for (Action action : actions) {
      if (action instanceof Action.Resolve resolve) {
        f.slots[resolve.slot] = f.context.resolve(resolve.name);
      } else if (action instanceof Action.Copy copy) {
        f.slots[copy.slot] = copy.source.raw(f);
      } else if (action instanceof Action.Unset unset) {
        f.slots[unset.slot] = Missing.MISSING;
      }
    }
  }

  void leave(Frame f) {
    for (int slot : slots) {
      f.slots[slot] = Missing.MISSING;
    }
  }
}
