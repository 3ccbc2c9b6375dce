package dev.warmpath.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How one request wants to be routed. Each option can be given here or as a request header (which
 * is removed before the request leaves); what is set here wins.
 *
 * @param deadline the longest the whole request may take, queueing and retries included, or null
 *     for the client's default; header {@code x-warmpath-deadline-ms}
 * @param priority admission order when the fleet is saturated: higher goes first, 0 is usual;
 *     header {@code x-warmpath-priority}
 * @param sessionKey requests of one key prefer one worker under session policies, or null; headers
 *     {@code x-warmpath-session}, {@code x-mori-session-id}
 * @param user the end user, or null: the session key where none is given; header {@code
 *     x-warmpath-user}
 * @param pin the worker (address, optionally {@code #rank}) to prefer over every other, or null;
 *     header {@code x-warmpath-pin}
 * @param profile the name of a set of client options, or null; header {@code x-warmpath-profile}
 * @param knowledge the knowledge that the request needs, or null for none; headers {@code
 *     x-warmpath-knowledge} (ids, separated by commas), {@code x-warmpath-knowledge-retrieve}
 *     ({@code true}) and {@code x-warmpath-knowledge-injection} ({@code auto}, {@code text}, {@code
 *     kv} or {@code off})
 */
public record RouteOptions(
    @Nullable Duration deadline,
    int priority,
    @Nullable String sessionKey,
    @Nullable String user,
    @Nullable String pin,
    @Nullable String profile,
    @Nullable KnowledgeNeeds knowledge) {

  /** Options of a request that needs no knowledge. */
  public RouteOptions(
      @Nullable Duration deadline,
      int priority,
      @Nullable String sessionKey,
      @Nullable String user,
      @Nullable String pin,
      @Nullable String profile) {
    this(deadline, priority, sessionKey, user, pin, profile, null);
  }

  /** Nothing asked for. */
  public static final RouteOptions NONE = new RouteOptions(null, 0, null, null, null, null);
}
