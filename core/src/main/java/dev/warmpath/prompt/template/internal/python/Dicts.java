package dev.warmpath.prompt.template.internal.python;

import java.util.Map;

/** Look-ups in any {@code Map} with Python's equality of keys. */
public final class Dicts {
  private Dicts() {}

  /** The value of a string key, or {@link Missing#MISSING}. */
  public static Object get(Map<?, ?> map, String key) {
    Object value = map.get(key);
    if (value != null) {
      return value;
    }
    return map.containsKey(key) ? PyNone.NONE : Missing.MISSING;
  }

  /**
   * The value of any key, or {@link Missing#MISSING}; a {@code TypeError} where the key can't be
   * hashed.
   */
  public static Object get(Rendering r, Map<?, ?> map, Object key) {
    if (key instanceof String s) {
      return get(map, s);
    }
    Object dictKey = DictKey.of(r, key);
    if (dictKey instanceof String s) {
      return get(map, s);
    }
    if (map instanceof PyDict dict) {
      return dict.lookup(dictKey);
    }
    for (Map.Entry<?, ?> e : map.entrySet()) {
      r.charge();
      Object other = Py.in(e.getKey());
      if (!(other instanceof String) && dictKey.equals(DictKey.of(r, other))) {
        return Py.in(e.getValue());
      }
    }
    return Missing.MISSING;
  }
}
