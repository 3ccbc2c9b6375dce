package dev.warmpath.grpc.internal;

import dev.warmpath.worker.ServedModel;
import java.util.List;
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

  /** The model that a server names, or whose path it tells. */
  static List<ServedModel> served(String name, String path, @Nullable Integer context) {
    String known = name.isEmpty() ? path : name;
    return known.isEmpty() ? List.of() : List.of(new ServedModel(known, text(path), null, context));
  }
}
