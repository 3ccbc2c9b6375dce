package dev.warmpath.observe;

import io.opentelemetry.api.common.Attributes;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Host and port of workers as attributes, read from each address once. Thread safe. */
final class ServerAttributes {

  /** Beyond so many, which no fleet has at a time, addresses are read each time. */
  private static final int MAX_KEPT = 4_096;

  private final Map<String, Attributes> known = new ConcurrentHashMap<>();

  /** Of the worker with this address. */
  Attributes of(String worker) {
    Attributes attributes = known.get(worker);
    if (attributes == null) {
      attributes = read(worker);
      if (known.size() < MAX_KEPT) {
        known.put(worker, attributes);
      }
    }
    return attributes;
  }

  private static Attributes read(String worker) {
    URI address = URI.create(worker);
    return address.getHost() == null
        ? Attributes.empty()
        : Attributes.of(
            SpanAttributes.SERVER,
            address.getHost(),
            SpanAttributes.PORT,
            (long) address.getPort());
  }
}
