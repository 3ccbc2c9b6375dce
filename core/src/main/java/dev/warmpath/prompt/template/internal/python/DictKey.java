package dev.warmpath.prompt.template.internal.python;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A key of a dict or set that is no plain string: equal where Python's {@code ==} and {@code hash}
 * say so.
 *
 * @param original the key as it was given
 * @param normal a value with Java's equality, the same for keys that are equal in Python
 */
record DictKey(Object original, Object normal) {
  @Override
  public boolean equals(Object o) {
    return o instanceof DictKey other && normal.equals(other.normal);
  }

  @Override
  public int hashCode() {
    return normal.hashCode();
  }

  /** What stands for a key in a hash table: the string itself, or a {@code DictKey}. */
  static Object of(Rendering r, Object key) {
    if (key instanceof String) {
      return key;
    }
    if (key instanceof Markup m) {
      return m.text();
    }
    return new DictKey(key, normalize(r, key));
  }

  private static Object normalize(Rendering r, Object key) {
    r.charge();
    if (Numbers.isNumber(key)) {
      return Numbers.hashable(key);
    }
    if (key instanceof String || key instanceof PyRange) {
      return key;
    }
    if (key instanceof Markup m) {
      return m.text();
    }
    if (key instanceof PyTuple tuple) {
      List<Object> normal = new ArrayList<>(tuple.size());
      for (Object element : tuple) {
        normal.add(normalize(r, element));
      }
      return normal;
    }
    if (key instanceof List
        || key instanceof Map
        || (key instanceof DictView view && view.isSetLike())) {
      throw PyError.type("unhashable type: '" + Py.typeName(key) + "'");
    }
    if (key instanceof Undefined) {
      return Undefined.class;
    }
    return new Identity(key);
  }

  private record Identity(Object object) {
    @Override
    @SuppressWarnings("ReferenceEquality") // objects without a value are equal to themselves alone
    public boolean equals(Object o) {
      return o instanceof Identity other && other.object == object;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(object);
    }
  }
}
