package dev.warmpath.prompt.template.internal.python;

/** A value that a template can call. */
public interface PyCallable extends PyObject {
  /** Calls it. */
  Object call(Rendering r, Args args);
}
