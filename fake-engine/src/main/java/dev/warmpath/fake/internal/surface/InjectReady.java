package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.text.PromptRejectedException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What CacheRoute's instance control plane does at {@code /v1/kv/inject_ready} ({@code
 * instance/control_plane.py}, v0.1.9): it asks the knowledge node that the caller names to put KV
 * where the engine finds it, and answers what the node answers. There the instance's Redis is in
 * between; here a fake node's answer brings what KV stands for, and the prefix caches take it in. A
 * real node answers without that, and nothing becomes cached.
 *
 * <p>KV of another model is taken and never found, as there. In CacheRoute this endpoint has a port
 * of its own, which asks for no key; here it shares the engine's, and asks for none either.
 */
final class InjectReady {
  static final String PATH = "/v1/kv/inject_ready";

  private static final String DELIVERED = "fake_delivered";
  private static final Duration NODE_ANSWERS = Duration.ofSeconds(60);

  /** One for the process: its threads are daemons and end with the last use. */
  private static final class Shared {
    private static final HttpClient HTTP =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
  }

  private final Life life;

  InjectReady(Life life) {
    this.life = life;
  }

  /** Answers when the KV is there. */
  void handle(HttpExchange exchange, ObjectNode body) {
    URI node = node(body.path("kdn_addr").asText());
    JsonNode kids = body.path("knowledge_ids");
    if (node == null || !kids.isArray() || !body.path("request_id").isIntegralNumber()) {
      throw new ApiError(
          422,
          Json.object().put("detail", "request_id, kdn_addr, model and knowledge_ids are needed"));
    }
    ObjectNode request = Json.object();
    request.set("request_id", body.path("request_id"));
    request.put("model", body.path("model").asText());
    request.set("knowledge_ids", kids);
    request.put("redis_host", life.settings().host()).put("redis_port", 6379).put("redis_db", 0);
    request.putNull("redis_password");
    EngineSurface.whenDone(
        exchange,
        ask(node, request).thenCompose(this::takeIn),
        reply -> exchange.respond(reply.status, EngineSurface.JSON, Json.bytes(reply.body)));
  }

  private record Reply(int status, JsonNode body) {}

  private static @Nullable URI node(String address) {
    String url = address.contains("://") ? address : "http://" + address;
    try {
      URI uri = URI.create(url);
      boolean http = "http".equals(uri.getScheme()) && uri.getHost() != null;
      return http ? uri.resolve("/knowledge/inject_ready_kv") : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** What the node answers; the instance's own error where it doesn't. */
  private static CompletableFuture<Reply> ask(URI node, ObjectNode request) {
    HttpRequest post =
        HttpRequest.newBuilder(node)
            .timeout(NODE_ANSWERS)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(Json.bytes(request)))
            .build();
    return Shared.HTTP
        .sendAsync(post, HttpResponse.BodyHandlers.ofByteArray())
        .handle(
            (answer, failure) -> {
              if (failure == null && answer.statusCode() == 200) {
                try {
                  return new Reply(200, Json.MAPPER.readTree(answer.body()));
                } catch (IOException e) {
                  // an answer that is none
                }
              }
              return new Reply(500, Json.object().put("detail", "Internal Server Error"));
            });
  }

  private CompletableFuture<Reply> takeIn(Reply reply) {
    if (!(reply.body instanceof ObjectNode answer)) {
      return CompletableFuture.completedFuture(reply);
    }
    JsonNode delivered = answer.remove(DELIVERED);
    CompletableFuture<?> stored = CompletableFuture.completedFuture(null);
    if (delivered != null) {
      for (JsonNode one : delivered) {
        if (life.settings().servedModels().contains(one.path("model").asText())) {
          CompletableFuture<?> next = store(one);
          stored = stored.thenCompose(before -> next);
        }
      }
    }
    return stored.thenApply(done -> reply);
  }

  private CompletableFuture<?> store(JsonNode delivered) {
    ObjectNode chat = Json.object();
    chat.putArray("messages")
        .addObject()
        .put("role", "system")
        .put("content", delivered.path("content").asText());
    int[] prompt;
    try {
      prompt = life.settings().encoder().encodeChat(chat);
    } catch (PromptRejectedException e) {
      return CompletableFuture.completedFuture(null); // a template without system messages
    }
    int reusable = Math.min(prompt.length, delivered.path("tokens").asInt());
    EngineRequest prefix = new EngineRequest(0, Arrays.copyOf(prompt, reusable), new int[0], 0);
    return life.applyToAll(new EngineCommand.StorePrefix(prefix));
  }
}
