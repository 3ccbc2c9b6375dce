package dev.warmpath.prompt.template.internal.python;

import java.util.Iterator;
import java.util.Map;

/**
 * What a dict's {@code keys()}, {@code values()} or {@code items()} gives.
 *
 * @param map the dict
 * @param kind which of the three
 */
public record DictView(Map<?, ?> map, Kind kind) implements PyObject {
  /** The three views. */
  public enum Kind {
    /** {@code keys()}. */
    KEYS,
    /** {@code values()}. */
    VALUES,
    /** {@code items()}. */
    ITEMS
  }

  /** Iterates over keys, values or pairs. */
  public Iterator<Object> iterator() {
    Iterator<? extends Map.Entry<?, ?>> it = map.entrySet().iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return it.hasNext();
      }

      @Override
      public Object next() {
        Map.Entry<?, ?> e = it.next();
        return switch (kind) {
          case KEYS -> Py.in(e.getKey());
          case VALUES -> Py.in(e.getValue());
          case ITEMS -> new PyTuple(Py.in(e.getKey()), Py.in(e.getValue()));
        };
      }
    };
  }

  /** Whether it compares as a set. */
  boolean isSetLike() {
    return kind != Kind.VALUES;
  }

  /** Whether a value is among them. */
  boolean contains(Rendering r, Object value) {
    if (kind == Kind.KEYS) {
      return Dicts.get(r, map, value) != Missing.MISSING;
    }
    if (kind == Kind.ITEMS) {
      if (!(value instanceof PyTuple pair) || pair.size() != 2) {
        return false;
      }
      Object found = Dicts.get(r, map, pair.get(0));
      return found != Missing.MISSING && Compare.same(r, found, pair.get(1));
    }
    for (Iterator<Object> it = iterator(); it.hasNext(); ) {
      r.charge();
      if (Compare.same(r, it.next(), value)) {
        return true;
      }
    }
    return false;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // views have no equality of their own outside Compare
  public boolean equals(Object o) {
    return o instanceof DictView other && other.map == map && other.kind == kind;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(map) * 31 + kind.hashCode();
  }

  @Override
  public String typeName() {
    return switch (kind) {
      case KEYS -> "dict_keys";
      case VALUES -> "dict_values";
      case ITEMS -> "dict_items";
    };
  }

  @Override
  public boolean isTrue(Rendering r) {
    return !map.isEmpty();
  }

  @Override
  public Object attribute(Rendering r, String name) {
    return name.equals("mapping") ? map : Missing.MISSING;
  }

  @Override
  public void repr(Repr out) {
    out.append(typeName()).append("([");
    boolean first = true;
    for (Iterator<Object> it = iterator(); it.hasNext(); ) {
      if (!first) {
        out.append(", ");
      }
      first = false;
      out.value(it.next());
    }
    out.append("])");
  }
}
