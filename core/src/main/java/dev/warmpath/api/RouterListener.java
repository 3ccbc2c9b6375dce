package dev.warmpath.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Hears what happens to each request. Every method does nothing by default. Calls come on the
 * thread that does the work, in the order of the request's life; they must be short and must not
 * block. What a listener throws is logged once and goes no further.
 *
 * <p>A request's life: {@link #onRouted}, then for each attempt {@link #onAttempt} and {@link
 * #onFirstByte} or {@link #onAttemptFailed}; at the end exactly one {@link #onFinished}. A request
 * that finally failed is also a {@link #onDeadLetter}.
 */
public interface RouterListener {
  /** The request was admitted and a plan made. */
  default void onRouted(RequestEvent event) {}

  /** An attempt begins: its lease is held. */
  default void onAttempt(RequestEvent event) {}

  /**
   * The first byte of the response body arrived; {@link RequestEvent#elapsed()} is the time to it
   * (TTFT when streamed).
   */
  default void onFirstByte(RequestEvent event) {}

  /** An attempt failed; another may follow. */
  default void onAttemptFailed(RequestEvent event) {}

  /** The request is over and its lease released, whatever the outcome. */
  default void onFinished(RequestEvent event) {}

  /** The request finally failed with no attempt left; what is needed to send it again later. */
  default void onDeadLetter(DeadLetter letter) {}

  /** How a request ended. */
  enum Outcome {
    /** A response was delivered whole (a worker's 4xx too). */
    COMPLETED,
    /** It failed. */
    FAILED,
    /** The application cancelled it. */
    CANCELLED
  }

  /**
   * One moment of a request.
   *
   * @param requestId the client's number for the request
   * @param path the path that was asked for
   * @param model the model it names, or null where it names none
   * @param stream whether a stream of events was asked for
   * @param worker the attempt's worker, or null before the first
   * @param attempt the attempt's number from 1, 0 before the first
   * @param elapsed since the request was given to the client
   * @param timings where that time went
   * @param outcome set in {@link #onFinished} only
   * @param failure the failed attempt, in {@link #onAttemptFailed} only
   * @param usage token counts reported, in {@link #onFinished} only, where there are any
   * @param decision where it goes and why
   */
  record RequestEvent(
      long requestId,
      String path,
      @Nullable String model,
      boolean stream,
      @Nullable String worker,
      int attempt,
      Duration elapsed,
      RequestTimings timings,
      @Nullable Outcome outcome,
      @Nullable AttemptRecord failure,
      @Nullable Usage usage,
      RouteDecision decision) {}

  /**
   * A request that finally failed.
   *
   * @param request the request as it was given, body included: keep it as private as the prompt is
   * @param error what the application was told
   */
  record DeadLetter(RouterRequest request, RouterException error) {}
}
