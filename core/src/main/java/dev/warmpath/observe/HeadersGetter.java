package dev.warmpath.observe;

import dev.warmpath.api.Headers;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the context that came with a request. */
enum HeadersGetter implements TextMapGetter<Headers> {
  INSTANCE;

  @Override
  @SuppressWarnings("deprecation") // still without a default
  public Iterable<String> keys(Headers headers) {
    List<String> names = new ArrayList<>();
    headers.forEach((name, value) -> names.add(name));
    return names;
  }

  @Override
  public @Nullable String get(@Nullable Headers headers, String name) {
    return headers == null ? null : headers.get(name);
  }
}
