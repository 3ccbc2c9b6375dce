package dev.warmpath.prompt.template.internal.python;

/** A value of a type that Java has no everyday class for. */
public interface PyObject {
  /** Python's name of the type, as error messages give it. */
  String typeName();

  /** The type's name with its module, where the module is not {@code builtins}. */
  default String qualifiedTypeName() {
    return typeName();
  }

  /** Python's truth value. */
  default boolean isTrue(Rendering r) {
    return true;
  }

  /**
   * Reads an attribute that is part of the type.
   *
   * @return the value, or {@link Missing#MISSING} where Python raises {@code AttributeError}
   */
  default Object attribute(Rendering r, String name) {
    return Missing.MISSING;
  }

  /** Appends what Python's {@code repr} gives. */
  default void repr(Repr out) {
    out.append('<').append(qualifiedTypeName()).append(" object at 0x7f0000000000>");
  }
}
