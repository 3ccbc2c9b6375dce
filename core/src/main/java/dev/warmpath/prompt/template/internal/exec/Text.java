package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.TextOut;

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
      TextOut out = f.r.out();
      if (v instanceof String s && escaping == Escaping.OFF) {
        out.append(s);
      } else if (escaping.isOn(f.r)) {
        out.append(Markup.escape(f.r, v).text());
      } else {
        out.append(Py.str(f.r, v));
      }
      f.r.checkOutput();
      return Outcome.NORMAL;
    }
  }

  /**
   * The text of a sum, which in a chat template is nearly always one of strings: they are written
   * one after another without being joined first.
   */
  public static final class PrintSum extends Statement {
    private final Expression[] operands;

    /** What is added up. */
    public PrintSum(Operators.Add sum) {
      this.operands = sum.operands().toArray(new Expression[0]);
    }

    @Override
    public Outcome exec(Frame f) {
      String[] texts = new String[operands.length];
      long length = 0;
      int i = 0;
      Object other = null;
      for (; i < operands.length; i++) {
        Object value = operands[i].eval(f);
        if (!(value instanceof String text)) {
          other = value;
          break;
        }
        texts[i] = text;
        length += text.length();
        f.r.chargeChars(length);
      }
      if (other != null) {
        f.r.out().append(Py.str(f.r, rest(f, texts, i, other)));
      } else {
        for (String text : texts) {
          f.r.out().append(text);
        }
      }
      f.r.checkOutput();
      return Outcome.NORMAL;
    }

    /** The sum from the first operand on that is no string. */
    private Object rest(Frame f, String[] texts, int at, Object other) {
      Object sum = other;
      if (at > 0) {
        StringBuilder before = new StringBuilder();
        for (int i = 0; i < at; i++) {
          before.append(texts[i]);
        }
        sum = Arithmetic.add(f.r, before.toString(), other);
      }
      for (int i = at + 1; i < operands.length; i++) {
        sum = Arithmetic.add(f.r, sum, operands[i].eval(f));
      }
      return sum;
    }
  }
}
