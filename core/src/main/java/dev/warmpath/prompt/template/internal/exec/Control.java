package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Py;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Statements that branch, assign and open scopes. */
public final class Control {
  private Control() {}

  /** {@code if}. */
  public static final class If extends Statement {
    private final Expression[] tests;
    private final Body[] bodies;
    private final @Nullable Body otherwise;

    /** As many tests as bodies, and what follows where none holds. */
    public If(List<Expression> tests, List<Body> bodies, @Nullable Body otherwise) {
      this.tests = tests.toArray(new Expression[0]);
      this.bodies = bodies.toArray(new Body[0]);
      this.otherwise = otherwise;
    }

    @Override
    public Outcome exec(Frame f) {
      for (int i = 0; i < tests.length; i++) {
        if (tests[i].test(f)) {
          return bodies[i].exec(f);
        }
      }
      return otherwise == null ? Outcome.NORMAL : otherwise.exec(f);
    }
  }

  /** {@code break} or {@code continue}. */
  public static final class Jump extends Statement {
    private final Outcome outcome;

    /** The outcome. */
    public Jump(Outcome outcome) {
      this.outcome = outcome;
    }

    @Override
    public Outcome exec(Frame f) {
      return outcome;
    }
  }

  /** {@code set} with a value. */
  public static final class Assign extends Statement {
    private final Target target;
    private final Expression value;

    /** What is set to what. */
    public Assign(Target target, Expression value) {
      this.target = target;
      this.value = value;
    }

    @Override
    public Outcome exec(Frame f) {
      target.check(f);
      target.assign(f, value.eval(f));
      return Outcome.NORMAL;
    }
  }

  /** Shows the blocks variables of the top level. */
  public static final class Export extends Statement {
    private final Variable[] variables;

    /** The variables. */
    public Export(List<Variable> variables) {
      this.variables = variables.toArray(new Variable[0]);
    }

    @Override
    public Outcome exec(Frame f) {
      for (Variable variable : variables) {
        f.context.export(variable.name(), variable.raw(f));
      }
      return Outcome.NORMAL;
    }
  }

  /** The text that a block's body has written, as the value that the block's filters begin with. */
  public static final class Captured extends Expression {
    private final int slot;

    /** The variable that holds it meanwhile. */
    public Captured(int slot) {
      this.slot = slot;
    }

    @Override
    public Object eval(Frame f) {
      return f.slots[slot];
    }
  }

  /** {@code set} with a body, and {@code filter}. */
  public static final class Capture extends Statement {
    private final ScopeEntry entry;
    private final Body body;
    private final int slot;
    private final Expression value;
    private final @Nullable Target target;
    private final Escaping escaping;

    /**
     * A body whose text becomes a value.
     *
     * @param slot holds the text for {@code value} to read
     * @param value what becomes of the text
     * @param target what is set; null where the value is written
     * @param escaping whether the text counts as escaped
     */
    public Capture(
        ScopeEntry entry,
        Body body,
        int slot,
        Expression value,
        @Nullable Target target,
        Escaping escaping) {
      this.entry = entry;
      this.body = body;
      this.slot = slot;
      this.value = value;
      this.target = target;
      this.escaping = escaping;
    }

    @Override
    public Outcome exec(Frame f) {
      entry.enter(f);
      int start = f.r.out().length();
      Outcome outcome = body.exec(f);
      String text = Body.cut(f, start);
      if (outcome != Outcome.NORMAL) {
        return outcome;
      }
      f.slots[slot] = escaping.isOn(f.r) ? new Markup(text) : text;
      Object result = value.eval(f);
      f.slots[slot] = Missing.MISSING;
      if (target == null) {
        Text.append(f, result);
      } else {
        target.assign(f, f.r.autoescape() ? new Markup(Py.str(f.r, result)) : result);
      }
      entry.leave(f);
      return Outcome.NORMAL;
    }
  }

  /** {@code with}. */
  public static final class With extends Statement {
    private final ScopeEntry entry;
    private final Target[] targets;
    private final Expression[] values;
    private final Body body;

    /** As many targets as values. */
    public With(ScopeEntry entry, List<Target> targets, List<Expression> values, Body body) {
      this.entry = entry;
      this.targets = targets.toArray(new Target[0]);
      this.values = values.toArray(new Expression[0]);
      this.body = body;
    }

    @Override
    public Outcome exec(Frame f) {
      entry.enter(f);
      for (int i = 0; i < targets.length; i++) {
        targets[i].assign(f, values[i].eval(f));
      }
      Outcome outcome = body.exec(f);
      if (outcome == Outcome.NORMAL) {
        entry.leave(f);
      }
      return outcome;
    }
  }

  /** {@code autoescape}. */
  public static final class Autoescape extends Statement {
    private final ScopeEntry entry;
    private final Expression value;
    private final Body body;

    /** The setting and its scope. */
    public Autoescape(ScopeEntry entry, Expression value, Body body) {
      this.entry = entry;
      this.value = value;
      this.body = body;
    }

    @Override
    public Outcome exec(Frame f) {
      entry.enter(f);
      boolean before = f.r.autoescape();
      f.r.autoescape(value.test(f));
      Outcome outcome = body.exec(f);
      // Jinja2 jumps over the end of the block as well
      if (outcome == Outcome.NORMAL) {
        f.r.autoescape(before);
        entry.leave(f);
      }
      return outcome;
    }
  }

  /** {@code macro}. */
  public static final class DefineMacro extends Statement {
    private final MacroCode code;
    private final Target target;

    /** The macro and its variable. */
    public DefineMacro(MacroCode code, Target target) {
      this.code = code;
      this.target = target;
    }

    @Override
    public Outcome exec(Frame f) {
      target.assign(f, new Macro(code, f));
      return Outcome.NORMAL;
    }
  }

  /** {@code call}. */
  public static final class CallBlock extends Statement {
    private final MacroCode code;
    private final Calls.Call call;

    /** The body and the call that gets it as {@code caller}. */
    public CallBlock(MacroCode code, Calls.Call call) {
      this.code = code;
      this.call = call;
    }

    @Override
    public Outcome exec(Frame f) {
      Text.append(f, call.eval(f, new Macro(code, f)));
      return Outcome.NORMAL;
    }
  }

  /** {@code generation}: its body runs in a scope of its own and that is all. */
  public static final class Generation extends Statement {
    private final MacroCode code;

    /** The body. */
    public Generation(MacroCode code) {
      this.code = code;
    }

    @Override
    public Outcome exec(Frame f) {
      Text.append(f, new Macro(code, f).call(f.r, Args.NONE));
      return Outcome.NORMAL;
    }
  }
}
