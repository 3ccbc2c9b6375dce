package dev.warmpath.transport;

import dev.warmpath.api.Headers;
import dev.warmpath.worker.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * One request as it goes to one worker: routing headers removed, rank and request id put where the
 * worker's engine reads them. The transport adds the worker's key.
 *
 * @param target where it goes
 * @param method the HTTP method
 * @param path the path with its query, under the worker's base URL
 * @param headers the headers to send; {@code Authorization} only if the application's is to be
 *     forwarded
 * @param body the body; not to be changed
 * @param stream whether a stream of events is expected
 * @param admin whether the worker's admin key is to be used
 * @param rid the request id the engine knows, by which it can be aborted, or null
 * @param timeouts how long it may take
 * @param tokens the prompt's tokens, for engines that take no text; null where it has none
 */
public record OutboundRequest(
    WorkerRank target,
    String method,
    String path,
    Headers headers,
    byte[] body,
    boolean stream,
    boolean admin,
    @Nullable String rid,
    Timeouts timeouts,
    @Nullable PromptTokens tokens) {

  /** A request whose prompt, if it has one, is in its body only. */
  public OutboundRequest(
      WorkerRank target,
      String method,
      String path,
      Headers headers,
      byte[] body,
      boolean stream,
      boolean admin,
      @Nullable String rid,
      Timeouts timeouts) {
    this(target, method, path, headers, body, stream, admin, rid, timeouts, null);
  }

  /** Target, method and path only: never the body. */
  @Override
  public String toString() {
    return method + " " + target + path + " (" + body.length + " bytes)";
  }
}
