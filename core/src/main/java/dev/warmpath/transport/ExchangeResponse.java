package dev.warmpath.transport;

import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import org.jspecify.annotations.Nullable;

/**
 * A response whose headers have arrived. Read by one thread; closing before the end gives the
 * connection up.
 */
public interface ExchangeResponse extends AutoCloseable {
  /** The status. */
  int status();

  /** The headers. */
  Headers headers();

  /** Whether the body is a stream of server-sent events. */
  boolean streaming();

  /**
   * Reads the whole body.
   *
   * @throws TransportException when it breaks off
   */
  byte[] readBody() throws TransportException;

  /**
   * Waits for the next event of a streaming response.
   *
   * @return the event, or null once the end marker came
   * @throws TransportException when the stream breaks off, ends without its marker, or carries an
   *     error object
   */
  @Nullable StreamEvent nextEvent() throws TransportException;

  /** Gives the response up; idempotent, never throws. */
  @Override
  void close();
}
