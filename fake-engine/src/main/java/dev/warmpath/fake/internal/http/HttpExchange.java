package dev.warmpath.fake.internal.http;

import java.util.Map;

/**
 * One request and the answer to it. All methods may be called from any thread; writes to a
 * connection that is gone are ignored. Exactly one of {@link #respond}, {@link #end}, {@link
 * #reset} and {@link #cut} finishes it; a handler that calls none leaves the client waiting.
 */
public interface HttpExchange {

  /**
   * Returns the request.
   *
   * @return the request
   */
  HttpRequest request();

  /**
   * Sends a complete response.
   *
   * @param status HTTP status
   * @param headers headers besides content-length; names in lower case
   * @param body the body
   */
  void respond(int status, Map<String, String> headers, byte[] body);

  /**
   * Sends the head of a chunked response.
   *
   * @param status HTTP status
   * @param headers headers besides transfer-encoding; names in lower case
   */
  void begin(int status, Map<String, String> headers);

  /**
   * Sends one chunk at once.
   *
   * @param data its bytes; nothing is sent for an empty one
   */
  void chunk(byte[] data);

  /** Ends a chunked response. */
  void end();

  /**
   * Puts bytes on the wire as they are.
   *
   * @param data the bytes
   */
  void raw(byte[] data);

  /** Closes the connection with a TCP reset. */
  void reset();

  /** Closes the connection normally after what was written, whatever the response still lacks. */
  void cut();

  /**
   * Registers what happens if the client goes away before the answer is finished; runs at once if
   * it already has.
   *
   * @param action called on the server's thread, at most once
   */
  void onDisconnect(Runnable action);

  /**
   * Tells whether the head of the response was sent.
   *
   * @return true after {@link #begin}, {@link #respond} or {@link #raw}
   */
  boolean begun();
}
