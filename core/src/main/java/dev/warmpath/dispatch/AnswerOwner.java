package dev.warmpath.dispatch;

import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.Usage;
import dev.warmpath.policy.Candidate;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Whose answer a stream or a body is: whoever reads it tells how it fares. One terminal call
 * counts, the first. Told by one thread at a time; {@link #abandon} may come from any.
 */
public interface AnswerOwner {
  /** What was asked. */
  Prompt prompt();

  /** Where the request went and why. */
  RouteDecision decision();

  /** Whose answer it is. */
  Candidate candidate();

  /** Whether the request was cancelled. */
  boolean abandoned();

  /** Whether a terminal call was made. */
  boolean ended();

  /** The first byte of the body arrived. Later calls do nothing. */
  void firstByte();

  /**
   * The whole answer arrived: ends the request.
   *
   * @param usage token counts it reports, or null
   * @param answer the text that was generated, or null where it is not known
   */
  void completed(@Nullable Usage usage, @Nullable String answer);

  /** The answer is a client error, whole: ends the request. */
  void rejected(int status);

  /** The answer broke after it had begun: ends the request, with what the caller is to be told. */
  RouterException broken(TransportException error);

  /** Cancels the request. Idempotent. */
  void abandon();
}
