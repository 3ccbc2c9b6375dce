package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.internal.http.HttpExchange;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request over HTTP/1.1, which knows no way to ask for another connection. */
record HttpVictim(EngineSurface surface, HttpExchange exchange) implements FaultGate.Victim {
  @Override
  public void refuse(int status, @Nullable Duration retryAfter) {
    Map<String, String> headers = new HashMap<>(EngineSurface.JSON);
    if (retryAfter != null) {
      headers.put("retry-after", Long.toString(retryAfter.toSeconds()));
    }
    ApiError error = surface.error(status, "injected fault");
    exchange.respond(error.status(), headers, Json.bytes(error.body()));
  }

  @Override
  public void reset() {
    exchange.reset();
  }

  @Override
  public void cut() {
    exchange.cut();
  }

  @Override
  public void garbage() {
    EventSink.garbage(exchange);
  }

  @Override
  public void goAway() {}
}
