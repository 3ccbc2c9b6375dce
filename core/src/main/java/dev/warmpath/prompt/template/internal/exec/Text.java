package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;

/** Statements that write. */
public final class Text {
  private Text() {}

  /** Appends what must be text already. */
  static void append(Frame f, Object text) {
    if (!Py.isString(text)) {
      throw PyError.type("sequence item 0: expected str instance, " + Py.typeName(text) + " found");
    }
    f.r.out().append(Py.text(text));
    f.r.checkOutput();
  }

  /** Text known beforehand. */
  public static final class Fixed extends Statement {
    private final String text;

    /** The text. */
    public Fixed(String text) {
      this.text = text;
    }

    @Override
    public Outcome exec(Frame f) {
      f.r.out().append(text);
      return Outcome.NORMAL;
    }
  }

  /** A value's text. */
  public static final class Print extends Statement {
    private final Expression value;
    private final Escaping escaping;

    /** The value, and whether to escape it. */
    public Print(Expression value, Escaping escaping) {
      this.value = value;
      this.escaping = escaping;
    }

    @Override
    public Outcome exec(Frame f) {
      Object v = value.eval(f);
      StringBuilder out = f.r.out();
      if (v instanceof String s && escaping == Escaping.OFF) {
        out.append(s);
      } else if (escaping.isOn(f.r)) {
        out.append(Markup.escape(f.r, v).text());
      } else {
        Py.appendStr(f.r, out, v);
      }
      f.r.checkOutput();
      return Outcome.NORMAL;
    }
  }
}
