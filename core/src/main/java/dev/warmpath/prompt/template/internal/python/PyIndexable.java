package dev.warmpath.prompt.template.internal.python;

/** A value of another type that has items. */
public interface PyIndexable extends PyObject {
  /** The item of a key, or {@link Missing#MISSING}. */
  Object item(Rendering r, Object key);
}
