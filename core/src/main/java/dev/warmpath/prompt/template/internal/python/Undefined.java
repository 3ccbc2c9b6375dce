package dev.warmpath.prompt.template.internal.python;

/**
 * Jinja2's {@code Undefined}: prints as nothing, is false and empty, and raises at whatever else is
 * done with it.
 */
public final class Undefined implements PyObject {
  private final String hint;
  private final Object object;
  private final Object name;
  private final String errorType;

  private Undefined(String hint, Object object, Object name, String errorType) {
    this.hint = hint;
    this.object = object;
    this.name = name;
    this.errorType = errorType;
  }

  /** A variable that is not there. */
  public static Undefined variable(String name) {
    return new Undefined("", Missing.MISSING, name, "UndefinedError");
  }

  /** An attribute or item that is not there. */
  public static Undefined member(Object object, Object name) {
    return new Undefined("", object, name, "UndefinedError");
  }

  /** Something undefined for a reason. */
  public static Undefined because(String hint) {
    return new Undefined(hint, Missing.MISSING, PyNone.NONE, "UndefinedError");
  }

  /** An attribute that the sandbox keeps away. */
  public static Undefined unsafe(Object object, String name) {
    return new Undefined(
        "access to attribute "
            + Repr.ofString(name)
            + " of '"
            + Py.typeName(object)
            + "' object is unsafe.",
        object,
        name,
        "SecurityError");
  }

  /** The error of using it. */
  public PyError error() {
    return PyError.of(errorType, message());
  }

  /** The message of that error. */
  public String message() {
    if (!hint.isEmpty()) {
      return hint;
    }
    if (object == Missing.MISSING) {
      return Repr.ofShort(name) + " is undefined";
    }
    String type = object == PyNone.NONE ? "None" : Py.qualifiedTypeName(object) + " object";
    if (Py.isString(name)) {
      return Repr.ofString(type) + " has no attribute " + Repr.ofShort(name);
    }
    return type + " has no element " + Repr.ofShort(name);
  }

  @Override
  public String typeName() {
    return "Undefined";
  }

  @Override
  public String qualifiedTypeName() {
    return "jinja2.runtime.Undefined";
  }

  @Override
  public boolean isTrue(Rendering r) {
    return false;
  }

  @Override
  public void repr(Repr out) {
    out.append("Undefined");
  }
}
