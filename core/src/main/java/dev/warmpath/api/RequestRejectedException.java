package dev.warmpath.api;

import java.nio.charset.StandardCharsets;

/**
 * A worker refused a streamed request with a client error that no other worker would answer
 * differently.
 */
public final class RequestRejectedException extends RouterException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final transient byte[] body;
  private final transient RouteDecision decision;

  /** Creates the error with the worker's answer, which stays out of the message. */
  public RequestRejectedException(int status, byte[] body, RouteDecision decision) {
    super("the worker refused the request with status " + status, null);
    this.status = status;
    this.body = body;
    this.decision = decision;
  }

  /** The worker's status, 4xx. */
  public int status() {
    return status;
  }

  /** The worker's answer as UTF-8 text. */
  public String text() {
    return body == null ? "" : new String(body, StandardCharsets.UTF_8);
  }

  /** Where the request went and why. */
  public RouteDecision decision() {
    return decision;
  }
}
