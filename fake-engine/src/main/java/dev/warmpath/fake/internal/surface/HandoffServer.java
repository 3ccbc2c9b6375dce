package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpServer;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The imitation's own routes of a side channel, in place of RDMA and ZeroMQ: decode workers of
 * other processes join by {@code POST /fake/handoffs}, whose answer goes on as long as the handoff,
 * and tell what comes of what they are told by {@code POST /fake/handoffs/ID}.
 */
final class HandoffServer {
  static final String PATH = "/fake/handoffs";

  private record Joined(RemoteSide side, LiveHandoff handoff) {}

  private final Life life;
  private final HttpServer server;
  private final Map<Long, Joined> joined = new ConcurrentHashMap<>();

  HandoffServer(Life life, HttpServer server) {
    this.life = life;
    this.server = server;
  }

  /** Answers a request of its own; false for one that is none. */
  boolean handle(HttpExchange exchange) {
    String path = exchange.request().path();
    if (!exchange.request().method().equals("POST") || !path.startsWith(PATH)) {
      return false;
    }
    try {
      JsonNode body = Json.MAPPER.readTree(exchange.request().body());
      if (path.equals(PATH)) {
        join(exchange, body);
      } else {
        told(exchange, Long.parseLong(path.substring(PATH.length() + 1)), body);
      }
    } catch (IOException | IllegalArgumentException e) {
      EngineSurface.empty(exchange, 400);
    }
    return true;
  }

  private void join(HttpExchange exchange, JsonNode body) {
    LiveHandoff handoff;
    try {
      handoff = life.desk().join(HandoffJoin.of(body));
    } catch (HandoffRefused e) {
      ObjectNode refusal = Json.object().put("message", e.text());
      exchange.respond(e.status(), EngineSurface.JSON, Json.bytes(refusal));
      return;
    }
    long number = LiveHandoff.nextId();
    RemoteSide side =
        new RemoteSide(
            life,
            server,
            exchange,
            Duration.ofMillis(body.path("waiting_ms").asLong(1)),
            () -> joined.remove(number));
    joined.put(number, new Joined(side, handoff));
    side.open(number);
    handoff.destination(side);
    side.watch(handoff);
  }

  private void told(HttpExchange exchange, long number, JsonNode event) {
    Joined known = joined.get(number);
    if (known != null) {
      known.side().told(event, known.handoff());
    }
    EngineSurface.empty(exchange, known == null ? 404 : 204);
  }
}
