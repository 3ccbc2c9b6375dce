package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import org.jspecify.annotations.Nullable;

/** An answer that was put together here, as a response: whole, or events of which one was read. */
final class PdReadResponse implements ExchangeResponse {
  private final PdAnswer whole;
  private final @Nullable ExchangeResponse rest;
  private @Nullable StreamEvent first;

  private PdReadResponse(
      PdAnswer whole, @Nullable StreamEvent first, @Nullable ExchangeResponse rest) {
    this.whole = whole;
    this.first = first;
    this.rest = rest;
  }

  /** A whole answer. */
  static PdReadResponse whole(PdAnswer answer) {
    return new PdReadResponse(answer, null, null);
  }

  /**
   * A stream.
   *
   * @param first its first event, or null where it has none
   * @param rest what follows
   */
  static PdReadResponse events(@Nullable StreamEvent first, ExchangeResponse rest) {
    return new PdReadResponse(
        new PdAnswer(rest.status(), rest.headers(), new byte[0]), first, rest);
  }

  @Override
  public int status() {
    return whole.status();
  }

  @Override
  public Headers headers() {
    return whole.headers();
  }

  @Override
  public boolean streaming() {
    return rest != null;
  }

  @Override
  public byte[] readBody() {
    return whole.body();
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    StreamEvent event = first;
    first = null;
    return event != null || rest == null ? event : rest.nextEvent();
  }

  @Override
  public void close() {
    if (rest != null) {
      rest.close();
    }
  }
}
