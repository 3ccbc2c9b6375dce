package dev.warmpath.config;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What an object of the file says, by key; keys it does not say have their defaults. */
final class ConfigValues {
  private final Map<ConfigKey<?>, Object> given;
  private final Place place;

  ConfigValues(Map<ConfigKey<?>, Object> given, Place place) {
    this.given = Map.copyOf(given);
    this.place = place;
  }

  /** The same, without some keys. */
  ConfigValues without(Collection<ConfigKey<?>> keys) {
    Map<ConfigKey<?>, Object> left = new HashMap<>(given);
    left.keySet().removeAll(keys);
    return new ConfigValues(left, place);
  }

  /** The value, given or standard; null where there is neither. */
  @SuppressWarnings("unchecked") // put there by the key's own type
  <T> @Nullable T find(ConfigKey<T> key) {
    T value = (T) given.get(key);
    return value == null ? key.standard() : value;
  }

  /** The value of a key that has a default, or that must be given. */
  <T> T get(ConfigKey<T> key) {
    T value = find(key);
    if (value == null) {
      throw place.in(key.name()).error("is missing: set it");
    }
    return value;
  }

  /** Hands the value on, where there is one. */
  <T> void tell(ConfigKey<T> key, Consumer<T> taker) {
    T value = find(key);
    if (value != null) {
      taker.accept(value);
    }
  }

  /** The value as the file would have it; secrets are not shown. */
  <T> String printed(ConfigKey<T> key) {
    return key.printed(find(key));
  }

  /**
   * Makes settings of values that are each in order.
   *
   * @throws ConfigException where they don't go together
   */
  <S> S section(String name, Supplier<S> settings) {
    try {
      return settings.get();
    } catch (ConfigException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw place.in(name).error("is not in order: " + e.getMessage(), e);
    }
  }
}
