package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.http.HttpExchange;
import org.jspecify.annotations.Nullable;

/** An answer over HTTP: a JSON body, or server-sent events for a streamed call. */
final class HttpOutput implements Output {
  private final HttpExchange exchange;
  private final EventSink sink;
  private final Answer answer;

  HttpOutput(HttpExchange exchange, EventSink sink, Answer answer) {
    this.exchange = exchange;
    this.sink = sink;
    this.answer = answer;
  }

  @Override
  public void step(Generation generation, Generation.Item item, boolean first) {
    if (generation.call().stream()) {
      String finish = item.finish();
      answer.delta(sink, generation, item, first, finish.isEmpty() ? null : finish);
    }
  }

  @Override
  public void end(Generation generation) {
    if (generation.call().stream()) {
      answer.endStream(sink, generation);
      return;
    }
    JsonNode body = answer.body(generation);
    JsonNode handOff = generation.handOff();
    if (handOff != null && body instanceof ObjectNode object) {
      object.set("kv_transfer_params", handOff);
    }
    sink.respond(200, Json.bytes(body));
  }

  @Override
  public void fail(ApiError error, @Nullable String event) {
    if (!exchange.begun()) {
      sink.respond(error.status(), Json.bytes(error.body()));
    } else if (event != null) {
      sink.data(event);
      sink.done();
    } else {
      exchange.cut();
    }
  }

  @Override
  public void reset() {
    exchange.reset();
  }

  @Override
  public boolean faulty() {
    return sink.faulty();
  }

  @Override
  public boolean dead() {
    return sink.dead();
  }

  @Override
  public void onDisconnect(Runnable action) {
    exchange.onDisconnect(action);
  }
}
