package dev.warmpath.api;

import org.jspecify.annotations.Nullable;

/**
 * Receives a stream's events as they come, on a thread of the client's executor, one call at a
 * time: {@link #onOpen}, then {@link #onEvent} for each event, then one of {@link #onComplete} and
 * {@link #onError}. What {@link #onOpen} or {@link #onEvent} throws cancels the stream and comes
 * back as {@link #onError}.
 */
public interface StreamListener {
  /** The stream is open and its first event is at hand. */
  default void onOpen(RouteDecision decision) {}

  /** One event. */
  void onEvent(StreamEvent event);

  /** The stream ended well; {@code usage} is null where the engine reported none. */
  default void onComplete(@Nullable Usage usage) {}

  /** The request failed, or was cancelled. */
  void onError(RuntimeException error);
}
