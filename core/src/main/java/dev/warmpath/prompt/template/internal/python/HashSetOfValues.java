package dev.warmpath.prompt.template.internal.python;

import java.util.HashSet;
import java.util.Set;

/** A set with Python's equality of keys. */
public final class HashSetOfValues {
  private final Set<Object> keys = new HashSet<>();

  /** Adds a value and says whether it was new. */
  public boolean add(Rendering r, Object value) {
    return keys.add(DictKey.of(r, value));
  }

  /** Whether an equal value is in. */
  public boolean contains(Rendering r, Object value) {
    return keys.contains(DictKey.of(r, value));
  }
}
