package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.http.HttpExchange;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends an answer, or as much of it as a fault lets pass. Used by one thread at a time.
 *
 * <p>A stream that is shorter than the fault's number of chunks suffers it at its end.
 */
final class EventSink {
  private static final Map<String, String> EVENT_STREAM =
      Map.of("content-type", "text/event-stream; charset=utf-8", "cache-control", "no-cache");
  private static final Map<String, String> JSON = Map.of("content-type", "application/json");
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] GARBAGE = {
    (byte) 0xff, 0, (byte) 0xde, (byte) 0xad, '\r', '\n', (byte) 0x80, 7, (byte) 0xfe, '\n'
  };

  private final HttpExchange exchange;
  private final @Nullable Fault fault;
  private final @Nullable String errorEvent;
  private boolean begun;
  private boolean dead;
  private int sent;

  /**
   * Creates a sink.
   *
   * @param exchange where to
   * @param fault what goes wrong, or null
   * @param errorEvent how the engine reports an error in a stream, or null if it just breaks off
   */
  EventSink(HttpExchange exchange, @Nullable Fault fault, @Nullable String errorEvent) {
    this.exchange = exchange;
    this.fault = fault;
    this.errorEvent = errorEvent;
  }

  /** Whether a fault will end the answer or has. */
  boolean faulty() {
    return fault != null;
  }

  /** Whether a fault ended the answer. */
  boolean dead() {
    return dead;
  }

  /** Sends the head of a stream unless it was sent. */
  void begin() {
    if (!begun && !dead) {
      begun = true;
      exchange.begin(200, EVENT_STREAM);
    }
  }

  /** Sends {@code data: …}. */
  void data(String json) {
    send("data: " + json + "\n\n");
  }

  /** Sends {@code event: …} and {@code data: …}. */
  void event(String name, String json) {
    send("event: " + name + "\ndata: " + json + "\n\n");
  }

  private void send(String event) {
    begin();
    if (dead || (fault != null && sent >= fault.chunks() && fire(fault))) {
      return;
    }
    sent++;
    exchange.chunk(event.getBytes(StandardCharsets.UTF_8));
  }

  /** Ends the stream with {@code [DONE]}. */
  void done() {
    begin();
    if (!dead && (fault == null || !fire(fault))) {
      exchange.chunk(DONE);
      exchange.end();
    }
  }

  /** Ends a stream that has an end event of its own. */
  void end() {
    begin();
    if (!dead && (fault == null || !fire(fault))) {
      exchange.end();
    }
  }

  /** Sends a plain answer. */
  void respond(int status, byte[] body) {
    if (dead) {
      return;
    }
    if (fault == null) {
      exchange.respond(status, JSON, body);
      return;
    }
    dead = true;
    switch (fault.kind()) {
      case RESET -> exchange.reset();
      case CUT, TRUNCATE -> {
        String head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
                + body.length
                + "\r\n\r\n";
        exchange.raw(head.getBytes(StandardCharsets.US_ASCII));
        exchange.raw(Arrays.copyOf(body, body.length / 2));
        exchange.cut();
      }
      case GARBAGE -> garbage(exchange);
      case ERROR -> {
        String error = errorEvent == null ? "{\"detail\":\"injected error\"}" : errorEvent;
        exchange.respond(fault.status(), JSON, error.getBytes(StandardCharsets.UTF_8));
      }
      default -> {
        // HANG: the client waits
      }
    }
  }

  /** Writes what no HTTP client understands and closes. */
  static void garbage(HttpExchange exchange) {
    exchange.raw(GARBAGE);
    exchange.cut();
  }

  private boolean fire(Fault broken) {
    dead = true;
    switch (broken.kind()) {
      case RESET -> exchange.reset();
      case CUT -> exchange.cut();
      case TRUNCATE -> exchange.end();
      case GARBAGE -> garbage(exchange);
      case ERROR -> {
        if (errorEvent == null) {
          exchange.cut();
        } else {
          String events = "data: " + errorEvent + "\n\ndata: [DONE]\n\n";
          exchange.chunk(events.getBytes(StandardCharsets.UTF_8));
          exchange.end();
        }
      }
      default -> {
        // HANG: the stream stops without an end
      }
    }
    return true;
  }
}
