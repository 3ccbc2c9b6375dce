package dev.warmpath.prompt.template.internal.python;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A {@code dict} that a template has built: insertion order, and keys that are equal as Python
 * says.
 */
public final class PyDict extends AbstractMap<Object, Object> {
  private final LinkedHashMap<Object, Object> entries = new LinkedHashMap<>();

  /** An entry is set; an equal key keeps the place and the spelling it came with first. */
  public void set(Rendering r, Object key, Object value) {
    entries.put(DictKey.of(r, key), value);
  }

  /** Sets an entry whose key is a string. */
  public void set(String key, Object value) {
    entries.put(key, value);
  }

  /** All entries of another mapping are set. */
  public void setAll(Rendering r, Map<?, ?> other) {
    r.charge(other.size());
    if (other instanceof PyDict d) {
      entries.putAll(d.entries);
    } else {
      for (Map.Entry<?, ?> e : other.entrySet()) {
        set(r, Py.in(e.getKey()), Py.in(e.getValue()));
      }
    }
  }

  /** The value of a key that {@link DictKey#of} made, or {@link Missing#MISSING}. */
  Object lookup(Object dictKey) {
    return entries.getOrDefault(dictKey, Missing.MISSING);
  }

  @Override
  public @Nullable Object get(@Nullable Object key) {
    return key instanceof String ? entries.get(key) : null;
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    return key instanceof String && entries.containsKey(key);
  }

  @Override
  public int size() {
    return entries.size();
  }

  @Override
  public Set<Map.Entry<Object, Object>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Map.Entry<Object, Object>> iterator() {
        Iterator<Map.Entry<Object, Object>> it = entries.entrySet().iterator();
        return new Iterator<>() {
          @Override
          public boolean hasNext() {
            return it.hasNext();
          }

          @Override
          public Map.Entry<Object, Object> next() {
            Map.Entry<Object, Object> e = it.next();
            return e.getKey() instanceof DictKey k ? Map.entry(k.original(), e.getValue()) : e;
          }
        };
      }

      @Override
      public int size() {
        return entries.size();
      }
    };
  }
}
