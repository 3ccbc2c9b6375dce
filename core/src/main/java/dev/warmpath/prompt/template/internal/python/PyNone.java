package dev.warmpath.prompt.template.internal.python;

/** Python's {@code None}. */
public final class PyNone implements PyObject {
  /** The only instance. */
  public static final PyNone NONE = new PyNone();

  private PyNone() {}

  @Override
  public String typeName() {
    return "NoneType";
  }

  @Override
  public boolean isTrue(Rendering r) {
    return false;
  }

  @Override
  public void repr(Repr out) {
    out.append("None");
  }
}
