package dev.warmpath.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * HTTP-like headers in their order, names compared without case. Immutable. Values never show in
 * {@link #toString()}.
 */
public final class Headers {
  /** No headers. */
  public static final Headers EMPTY = new Headers(List.of());

  private final List<String> namesAndValues;

  /** Takes a list that nobody changes any more. */
  private Headers(List<String> namesAndValues) {
    this.namesAndValues = namesAndValues;
  }

  /**
   * Headers from alternating names and values.
   *
   * @throws IllegalArgumentException on an odd count
   */
  public static Headers of(String... namesAndValues) {
    if (namesAndValues.length % 2 != 0) {
      throw new IllegalArgumentException("headers come as pairs of name and value");
    }
    return new Headers(List.of(namesAndValues));
  }

  /** The first value of {@code name}, or null. */
  public @Nullable String get(String name) {
    for (int i = 0; i < namesAndValues.size(); i += 2) {
      if (namesAndValues.get(i).equalsIgnoreCase(name)) {
        return namesAndValues.get(i + 1);
      }
    }
    return null;
  }

  /** All values of {@code name}. */
  public List<String> all(String name) {
    List<String> values = new ArrayList<>();
    forEach(
        (key, value) -> {
          if (key.equalsIgnoreCase(name)) {
            values.add(value);
          }
        });
    return values;
  }

  /** How many name-value pairs there are. */
  public int size() {
    return namesAndValues.size() / 2;
  }

  /** Visits every pair in order. */
  public void forEach(BiConsumer<String, String> visitor) {
    for (int i = 0; i < namesAndValues.size(); i += 2) {
      visitor.accept(namesAndValues.get(i), namesAndValues.get(i + 1));
    }
  }

  /** These headers and one more pair. */
  public Headers with(String name, String value) {
    List<String> more = new ArrayList<>(namesAndValues.size() + 2);
    more.addAll(namesAndValues);
    add(more, name, value);
    return new Headers(more);
  }

  /** These headers with each of {@code others} in the place of what had its name. */
  public Headers replacing(Map<String, String> others) {
    if (others.isEmpty()) {
      return this;
    }
    List<String> changed = new ArrayList<>(namesAndValues.size() + 2 * others.size());
    for (int i = 0; i < namesAndValues.size(); i += 2) {
      if (!named(others, namesAndValues.get(i))) {
        add(changed, namesAndValues.get(i), namesAndValues.get(i + 1));
      }
    }
    others.forEach((name, value) -> add(changed, name, value));
    return new Headers(changed);
  }

  private static void add(List<String> to, String name, String value) {
    to.add(Objects.requireNonNull(name, "name"));
    to.add(Objects.requireNonNull(value, "value"));
  }

  private static boolean named(Map<String, String> others, String name) {
    for (String other : others.keySet()) {
      if (other.equalsIgnoreCase(name)) {
        return true;
      }
    }
    return false;
  }

  /** These headers without any value of {@code name}. */
  public Headers without(String name) {
    return filter(key -> !key.equalsIgnoreCase(name));
  }

  /** The pairs whose name passes. */
  public Headers filter(Predicate<String> names) {
    List<String> kept = new ArrayList<>(namesAndValues.size());
    forEach(
        (key, value) -> {
          if (names.test(key)) {
            add(kept, key, value);
          }
        });
    return kept.size() == namesAndValues.size() ? this : new Headers(kept);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Headers that && namesAndValues.equals(that.namesAndValues);
  }

  @Override
  public int hashCode() {
    return namesAndValues.hashCode();
  }

  /** Names only: values may be secrets. */
  @Override
  public String toString() {
    StringBuilder names = new StringBuilder("Headers[");
    for (int i = 0; i < namesAndValues.size(); i += 2) {
      names.append(i == 0 ? "" : ", ").append(namesAndValues.get(i));
    }
    return names.append(']').toString();
  }
}
