package dev.warmpath.grpc.internal;

import org.jspecify.annotations.Nullable;

/** Fields that a server leaves at their zero when it does not know them. */
final class Probed {
  private Probed() {}

  static @Nullable Integer positive(double number) {
    return number >= 1 && number <= Integer.MAX_VALUE ? Integer.valueOf((int) number) : null;
  }

  static @Nullable String text(String text) {
    return text.isEmpty() ? null : text;
  }

  static String healthy(boolean healthy) {
    return healthy ? "HealthCheck answers healthy" : "HealthCheck answers not healthy";
  }
}
