package dev.warmpath.config;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * What values of a key look like.
 *
 * @param <T> their Java type; compares by value
 */
interface ConfigType<T> {
  /** The type in a word or two, for the reference. */
  String label();

  /** What a plain number means, or what is written behind one; empty where there is no unit. */
  default String unit() {
    return "";
  }

  /**
   * Reads a value.
   *
   * @throws ConfigException saying what to write instead
   */
  T read(JsonNode node, Place place);

  /** A value as the file would have it; never one that is secret. */
  default String print(T value) {
    return String.valueOf(value);
  }

  /** The keys of an object or of the objects in a list; null where values have no keys. */
  default @Nullable ConfigTable keys() {
    return null;
  }

  /** What stands behind a key's name before the names of {@link #keys}. */
  default String keysBehind() {
    return ".";
  }
}
