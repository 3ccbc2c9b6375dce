package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.PyError;
import java.util.List;

/** Statements one after another. It notes the line of the statement that an error comes from. */
public final class Body extends Statement {
  private final Statement[] statements;
  private final int[] lines;

  /**
   * Statements and the line of each.
   *
   * @param lines as many as there are statements
   */
  public Body(List<Statement> statements, int[] lines) {
    this.statements = statements.toArray(new Statement[0]);
    this.lines = lines;
  }

  @Override
  public Outcome exec(Frame f) {
    int i = 0;
    try {
      for (; i < statements.length; i++) {
        Outcome outcome = statements[i].exec(f);
        if (outcome != Outcome.NORMAL) {
          return outcome;
        }
      }
    } catch (PyError e) {
      throw e.at(lines[i]);
    }
    return Outcome.NORMAL;
  }

  /**
   * Runs it and takes what it wrote off the output again; for bodies that no loop control leaves.
   */
  String capture(Frame f) {
    int start = f.r.out().length();
    exec(f);
    return cut(f, start);
  }

  /** Takes what was written since an offset off the output. */
  static String cut(Frame f, int start) {
    f.r.chargeChars(f.r.out().length() - start);
    return f.r.out().cut(start);
  }
}
