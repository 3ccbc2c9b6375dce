package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Rendering;

/** Whether output is escaped, as far as that is known beforehand. */
public enum Escaping {
  /** It is not. */
  OFF,
  /** It is. */
  ON,
  /** It is known only while rendering. */
  DYNAMIC;

  boolean isOn(Rendering r) {
    return this == ON || (this == DYNAMIC && r.autoescape());
  }
}
