package dev.warmpath.grpc;

import dev.warmpath.api.Headers;
import io.grpc.Metadata;
import java.util.Locale;
import java.util.Set;

/** The application's headers as metadata: all but those that speak of HTTP bodies and hops. */
final class ForwardedHeaders {
  private static final Set<String> OF_HTTP =
      Set.of(
          "accept",
          "accept-encoding",
          "connection",
          "content-encoding",
          "content-length",
          "content-type",
          "expect",
          "host",
          "keep-alive",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "user-agent");

  private ForwardedHeaders() {}

  static Metadata of(Headers headers) {
    Metadata metadata = new Metadata();
    headers.forEach(
        (name, value) -> {
          String lower = name.toLowerCase(Locale.ROOT);
          if (!OF_HTTP.contains(lower) && carried(lower, value)) {
            metadata.put(Metadata.Key.of(lower, Metadata.ASCII_STRING_MARSHALLER), value);
          }
        });
    return metadata;
  }

  /** What gRPC's metadata can hold as text. */
  private static boolean carried(String name, String value) {
    return !name.isEmpty()
        && !name.startsWith("grpc-")
        && !name.endsWith(Metadata.BINARY_HEADER_SUFFIX)
        && name.chars()
            .allMatch(
                c ->
                    (c >= 'a' && c <= 'z')
                        || (c >= '0' && c <= '9')
                        || c == '-'
                        || c == '_'
                        || c == '.')
        && value.chars().allMatch(c -> c >= 0x20 && c <= 0x7e);
  }
}
