package dev.warmpath.fake.internal.http;

/** Answers requests. */
@FunctionalInterface
public interface HttpHandler {

  /**
   * Answers a request now or later. Called on the server's thread, so it must not block; an
   * exception becomes a 500.
   *
   * @param exchange the request and the means to answer it
   */
  void handle(HttpExchange exchange);
}
