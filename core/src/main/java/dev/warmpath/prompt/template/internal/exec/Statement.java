package dev.warmpath.prompt.template.internal.exec;

/** Something to do. */
public abstract class Statement {
  /** How a statement ended. */
  public enum Outcome {
    /** The next one follows. */
    NORMAL,
    /** The loop around it ends. */
    BREAK,
    /** The next round of the loop around it follows. */
    CONTINUE
  }

  /** Does it. */
  public abstract Outcome exec(Frame f);
}
