package dev.warmpath.prompt.template.internal.python;

/** The mark of a variable, attribute or item that is not there. */
public final class Missing implements PyObject {
  /** The only instance. */
  public static final Missing MISSING = new Missing();

  private Missing() {}

  @Override
  public String typeName() {
    return "_MissingType";
  }

  @Override
  public void repr(Repr out) {
    out.append("missing");
  }
}
