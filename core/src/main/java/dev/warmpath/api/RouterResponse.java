package dev.warmpath.api;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A whole response, as the worker gave it. A client error of the worker's (a 4xx that no other
 * worker would answer differently) is a response too: look at {@link #status()}.
 *
 * @param status the HTTP status
 * @param headers the worker's headers
 * @param body the body; not to be changed
 * @param usage token counts the body reports, or null where it reports none
 * @param decision where the request went and why
 */
public record RouterResponse(
    int status, Headers headers, byte[] body, @Nullable Usage usage, RouteDecision decision) {

  /** The body as UTF-8 text. */
  public String text() {
    return new String(body, StandardCharsets.UTF_8);
  }

  /** Whether the status is 2xx. */
  public boolean successful() {
    return status >= 200 && status < 300;
  }

  /** Status and size only: never the body. */
  @Override
  public String toString() {
    return "RouterResponse[" + status + ", " + body.length + " bytes]";
  }
}
