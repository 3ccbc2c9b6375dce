package dev.warmpath.grpc;

import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.ExchangeResponse;
import org.jspecify.annotations.Nullable;

/** An answer that is all there. */
final class WholeResponse implements ExchangeResponse {
  private static final Headers JSON = Headers.of("content-type", "application/json");

  private final int status;
  private final byte[] body;

  WholeResponse(int status, byte[] body) {
    this.status = status;
    this.body = body;
  }

  @Override
  public int status() {
    return status;
  }

  @Override
  public Headers headers() {
    return JSON;
  }

  @Override
  public boolean streaming() {
    return false;
  }

  @Override
  public byte[] readBody() {
    return body;
  }

  @Override
  public @Nullable StreamEvent nextEvent() {
    return null;
  }

  @Override
  public void close() {
    // nothing is open any more
  }
}
