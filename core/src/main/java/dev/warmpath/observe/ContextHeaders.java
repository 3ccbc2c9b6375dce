package dev.warmpath.observe;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.LinkedHashMap;
import java.util.Map;

/** A context as the headers by which a worker learns of it. */
final class ContextHeaders {
  private static final TextMapSetter<Map<String, String>> SETTER =
      (headers, name, value) -> {
        if (headers != null) {
          headers.put(name, value);
        }
      };

  private ContextHeaders() {}

  static Map<String, String> of(Context context, TextMapPropagator propagator) {
    Map<String, String> headers = new LinkedHashMap<>(4);
    propagator.inject(context, headers, SETTER);
    return headers;
  }
}
