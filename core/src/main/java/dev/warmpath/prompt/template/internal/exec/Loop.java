package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.LazyIterator;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyIterator;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** {@code for}. */
public final class Loop extends Statement {
  private final Expression iterable;
  private final Rounds rounds;
  private final @Nullable Recursive recursive;

  /**
   * A loop.
   *
   * @param recursive how it runs as a function of its own, where it is marked {@code recursive}
   */
  public Loop(Expression iterable, Rounds rounds, @Nullable Recursive recursive) {
    this.iterable = iterable;
    this.rounds = rounds;
    this.recursive = recursive;
  }

  /**
   * The function that a recursive loop is.
   *
   * @param frameSize variables of the function
   * @param escaping whether its text counts as escaped
   */
  public record Recursive(int frameSize, Escaping escaping) {}

  /**
   * The part of a loop that picks items.
   *
   * @param frameSize variables of the function that picks
   * @param entry its scope
   * @param target what an item is assigned to, there
   * @param test what an item must pass
   */
  public record Selection(int frameSize, ScopeEntry entry, Target target, Expression test) {
    Object select(Frame outer, Object items) {
      return PyIterator.generator(
          "t_1",
          new LazyIterator() {
            private @Nullable Frame frame;
            private @Nullable Iterator<Object> iterator;

            @Override
            protected Object advance() {
              Frame f = frame;
              Iterator<Object> it = iterator;
              if (f == null || it == null) {
                f = new Frame(frameSize, outer);
                it = Py.iterate(outer.r, items);
                entry.enter(f);
                frame = f;
                iterator = it;
              }
              while (it.hasNext()) {
                f.r.charge();
                target.assign(f, it.next());
                if (test.test(f)) {
                  return target.read(f);
                }
              }
              return Missing.MISSING;
            }
          });
    }
  }

  /** What a loop does with the items. */
  public static final class Rounds {
    private final @Nullable Selection selection;
    private final Target target;
    private final int loopSlot;
    private final ScopeEntry entry;
    private final Body body;
    private final ScopeEntry elseEntry;
    private final @Nullable Body otherwise;
    private final boolean unsetAfterwards;

    /**
     * The rounds of a loop.
     *
     * @param loopSlot the variable {@code loop}, or -1 where nobody asks for it
     * @param otherwise the {@code else} part
     * @param unsetAfterwards whether the loop's variables are unset behind it
     */
    public Rounds(
        @Nullable Selection selection,
        Target target,
        int loopSlot,
        ScopeEntry entry,
        Body body,
        ScopeEntry elseEntry,
        @Nullable Body otherwise,
        boolean unsetAfterwards) {
      this.selection = selection;
      this.target = target;
      this.loopSlot = loopSlot;
      this.entry = entry;
      this.body = body;
      this.elseEntry = elseEntry;
      this.otherwise = otherwise;
      this.unsetAfterwards = unsetAfterwards;
    }

    /**
     * Runs in a frame; the selection is a function within {@code outer} whether or not the loop is
     * one.
     */
    Outcome run(
        Frame f,
        Frame outer,
        Object items,
        LoopContext.@Nullable Recursion recursion,
        long depth0) {
      Object selected = selection == null ? items : selection.select(outer, items);
      boolean completedOne =
          loopSlot < 0 ? plain(f, selected) : extended(f, selected, recursion, depth0);
      if (unsetAfterwards) {
        entry.leave(f);
      }
      Outcome outcome = Outcome.NORMAL;
      // a round that break or continue cut short does not count: the else part follows all the same
      if (otherwise != null && !completedOne) {
        elseEntry.enter(f);
        outcome = otherwise.exec(f);
        if (outcome == Outcome.NORMAL) {
          elseEntry.leave(f);
        }
      }
      return outcome;
    }

    private boolean plain(Frame f, Object items) {
      boolean completedOne = false;
      for (Iterator<Object> it = Py.iterate(f.r, items); it.hasNext(); ) {
        target.assign(f, it.next());
        Outcome outcome = round(f);
        completedOne |= outcome == Outcome.NORMAL;
        if (outcome == Outcome.BREAK) {
          break;
        }
      }
      return completedOne;
    }

    private boolean extended(
        Frame f, Object items, LoopContext.@Nullable Recursion recursion, long depth0) {
      boolean completedOne = false;
      f.slots[loopSlot] = Missing.MISSING;
      LoopContext loop = new LoopContext(f.r, items, recursion, depth0);
      for (Object item = loop.advance(); item != Missing.MISSING; item = loop.advance()) {
        target.assign(f, item);
        f.slots[loopSlot] = loop;
        Outcome outcome = round(f);
        completedOne |= outcome == Outcome.NORMAL;
        if (outcome == Outcome.BREAK) {
          break;
        }
      }
      return completedOne;
    }

    private Outcome round(Frame f) {
      f.r.charge();
      f.r.checkOutput();
      entry.enter(f);
      return body.exec(f);
    }
  }

  @Override
  public Outcome exec(Frame f) {
    if (recursive == null) {
      return rounds.run(f, f, iterable.eval(f), null, 0);
    }
    Text.append(f, render(f, recursive, iterable.eval(f), 0));
    return Outcome.NORMAL;
  }

  private Object render(Frame outer, Recursive how, Object items, long depth0) {
    outer.r.enter();
    int start = outer.r.out().length();
    Frame f = new Frame(how.frameSize, outer);
    rounds.run(f, outer, items, (inner, depth) -> render(outer, how, inner, depth), depth0);
    String text = Body.cut(f, start);
    outer.r.leave();
    return how.escaping.isOn(f.r) ? new Markup(text) : text;
  }
}
