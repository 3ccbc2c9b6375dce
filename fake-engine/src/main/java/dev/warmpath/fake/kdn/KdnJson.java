package dev.warmpath.fake.kdn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** JSON in and out, also to others. */
final class KdnJson {
  static final ObjectMapper MAPPER = new ObjectMapper();

  /** One for the process: its threads are daemons and end with the last use. */
  private static final class Shared {
    private static final HttpClient HTTP =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
  }

  /**
   * An answer.
   *
   * @param body what it says; a missing node if that is no JSON
   */
  record Reply(int status, JsonNode body) {}

  private KdnJson() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static byte[] bytes(JsonNode node) {
    try {
      return MAPPER.writeValueAsBytes(node);
    } catch (IOException e) {
      throw new UncheckedIOException("a tree is always writable", e);
    }
  }

  /** The object that a body is, or null. */
  static @Nullable ObjectNode parse(byte[] body) {
    return tree(body) instanceof ObjectNode object ? object : null;
  }

  private static JsonNode tree(byte[] body) {
    try {
      return MAPPER.readTree(body);
    } catch (IOException e) {
      return MAPPER.missingNode();
    }
  }

  /** Posts JSON; fails where nobody answers. */
  static CompletableFuture<Reply> post(
      URI uri, JsonNode body, Duration timeout, @Nullable String bearer) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .timeout(timeout)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(bytes(body)));
    if (bearer != null) {
      request.header("authorization", "Bearer " + bearer);
    }
    return Shared.HTTP
        .sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray())
        .thenApply(reply -> new Reply(reply.statusCode(), tree(reply.body())));
  }
}
