package dev.warmpath.config;

import org.jspecify.annotations.Nullable;

/**
 * One key of the file: all that is known of it stands here and nowhere else.
 *
 * @param name its dotted path
 * @param type what values look like
 * @param standard what holds where the file says nothing; null for nothing at all
 * @param fixed why a running client can't take another value; null where it can
 * @param text what it does, as the reference tells it
 */
record ConfigKey<T>(
    String name, ConfigType<T> type, @Nullable T standard, @Nullable WhyFixed fixed, String text) {

  boolean reloadable() {
    return fixed == null;
  }

  String printed(@Nullable T value) {
    return value == null ? "" : type.print(value);
  }
}
