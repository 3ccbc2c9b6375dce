package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import org.jspecify.annotations.Nullable;

/** A session's stream as a response: decode's own, watched. */
final class PdStreamResponse implements ExchangeResponse {
  private final PdCall call;
  private final ExchangeResponse decode;

  PdStreamResponse(PdCall call) {
    this.call = call;
    this.decode = call.response();
  }

  @Override
  public int status() {
    return decode.status();
  }

  @Override
  public Headers headers() {
    return decode.headers();
  }

  @Override
  public boolean streaming() {
    return true;
  }

  @Override
  public byte[] readBody() throws TransportException {
    return decode.readBody();
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    return call.nextEvent();
  }

  @Override
  public void close() {
    call.closeResponse();
  }
}
