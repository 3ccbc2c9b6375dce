package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpServer;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.FinishReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The decode side of a handoff that is in another process. It has asked over the side channel, and
 * the answer is a line of JSON for each thing that it is to do; what comes of them comes back by
 * requests of its own. Gone when its connection is.
 */
final class RemoteSide implements HandoffSide {
  private static final Map<String, String> LINES = Map.of("content-type", "application/x-ndjson");

  private final Life life;
  private final HttpServer server;
  private final HttpExchange exchange;
  private final HandoffTimeouts timeouts;
  private final Map<Integer, CompletableFuture<ActionOutcome>> asked = new ConcurrentHashMap<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicBoolean blamed = new AtomicBoolean();
  private final Runnable onOver;
  private volatile RankListener listener = RankListener.NONE;
  private volatile boolean gone;

  /**
   * Takes up a request to join.
   *
   * @param life the prefill worker, by way of which the decode worker is reached
   * @param server the side channel
   * @param exchange the request
   * @param waiting how long decode waits for KV
   * @param onOver runs once when nothing more will be told
   */
  RemoteSide(
      Life life, HttpServer server, HttpExchange exchange, Duration waiting, Runnable onOver) {
    this.life = life;
    this.server = server;
    this.exchange = exchange;
    this.onOver = onOver;
    HandoffTimeouts own = life.settings().handoff().timeouts();
    this.timeouts = new HandoffTimeouts(own.bootstrap(), waiting, own.lease());
  }

  /** Begins the answer. */
  void open(long number) {
    exchange.begin(200, LINES);
    line(Json.object().put("id", number));
  }

  /** Gives its part in a handoff up when its connection breaks. */
  void watch(LiveHandoff handoff) {
    exchange.onDisconnect(
        () -> {
          hangUp();
          handoff.lost(this);
          over();
        });
  }

  /** From now on nobody is there to do anything, or to say what came of it. */
  private void hangUp() {
    gone = true;
    asked.values().forEach(answer -> answer.complete(ActionOutcome.FAILED));
  }

  private void line(ObjectNode json) {
    exchange.chunk((Json.string(json) + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Takes what the decode worker tells. */
  void told(JsonNode event, LiveHandoff handoff) {
    if (event.has("reserved")) {
      handoff.hear(new EngineEffect.DestinationReserved(0, 0, event.path("reserved").asInt()));
    } else if (event.has("cancel")) {
      handoff.cancel(this);
    } else if (event.has("ended")) {
      listener.output(0, FinishReason.ABORTED);
    } else {
      CompletableFuture<ActionOutcome> answer = asked.remove(event.path("action").asInt(-1));
      if (answer != null) {
        answer.complete(ActionOutcome.valueOf(event.path("outcome").asText()));
      }
    }
  }

  @Override
  public Life life() {
    return life;
  }

  @Override
  public HandoffTimeouts timeouts() {
    return timeouts;
  }

  @Override
  public void schedule(Duration delay, Runnable action) {
    server.schedule(delay, action);
  }

  @Override
  public Optional<CompletableFuture<ActionOutcome>> offer(
      HandoffAction action, long handoffId, RankListener hears) {
    if (hears != RankListener.NONE) {
      listener = hears;
    }
    CompletableFuture<ActionOutcome> answer = new CompletableFuture<>();
    asked.put(action.id(), answer);
    line(Json.object().put("do", action.kind().name()).put("action", action.id()));
    if (gone) {
      answer.complete(ActionOutcome.FAILED);
    }
    return Optional.of(answer);
  }

  /** Its own process has its faults. */
  @Override
  public void reach(Scope moment, Runnable next, Runnable drop) {
    next.run();
  }

  @Override
  public void admitted(int reusedTokens) {}

  @Override
  public void output(int tokens, @Nullable FinishReason reason) {
    if (reason != null) {
      end(true);
    }
  }

  @Override
  public void over() {
    end(false);
  }

  private void end(boolean aborted) {
    if (over.compareAndSet(false, true)) {
      line(Json.object().put("end", aborted ? "aborted" : "done"));
      exchange.end();
      onOver.run();
      hangUp();
    }
  }

  @Override
  public void blame(String message) {
    if (blamed.compareAndSet(false, true)) {
      line(Json.object().put("blame", message)); // before whatever lets it tell its client
    }
  }

  @Override
  public void cancelRequest() {}

  @Override
  public int promptBlocks() {
    return 0;
  }
}
