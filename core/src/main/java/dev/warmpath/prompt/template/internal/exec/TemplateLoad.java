package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Undefined;

/**
 * {@code include}, {@code import} and {@code extends}: a chat template stands alone, there is
 * nothing to load from.
 */
public final class TemplateLoad extends Statement {
  private final Expression template;
  private final boolean several;
  private final boolean ignoreMissing;

  /**
   * A template that is asked for.
   *
   * @param template its name
   * @param several whether the name may be a list to choose from
   * @param ignoreMissing whether none may be there
   */
  public TemplateLoad(Expression template, boolean several, boolean ignoreMissing) {
    this.template = template;
    this.several = several;
    this.ignoreMissing = ignoreMissing;
  }

  @Override
  public Outcome exec(Frame f) {
    Object name = template.eval(f);
    if (several && !Py.isString(name) && !(name instanceof Undefined)) {
      if (!Py.isTrue(f.r, name)) {
        if (ignoreMissing) {
          return Outcome.NORMAL;
        }
        throw PyError.of("TemplatesNotFound", "Tried to select from an empty list of templates.");
      }
      Py.iterate(f.r, name);
    }
    throw PyError.type("no loader for this environment specified");
  }
}
