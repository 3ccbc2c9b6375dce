package dev.warmpath.api;

import org.jspecify.annotations.Nullable;

/**
 * One server-sent event of a streamed response. The end marker {@code [DONE]} is not delivered: the
 * stream just ends.
 *
 * @param event the event's name, or null where the engine sends none (chat and text completions)
 * @param data the payload, JSON text
 */
public record StreamEvent(@Nullable String event, String data) {
  /** The event's name and size only: never its text. */
  @Override
  public String toString() {
    return "StreamEvent[" + (event == null ? "message" : event) + ", " + data.length() + " chars]";
  }
}
