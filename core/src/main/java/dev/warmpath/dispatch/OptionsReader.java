package dev.warmpath.dispatch;

import dev.warmpath.api.Headers;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads routing options from a request's headers, and takes those headers (and others that must not
 * leave) away.
 */
final class OptionsReader {
  private static final String PREFIX = "x-warmpath-";
  private static final String SESSION = "x-warmpath-session";
  private static final String KNOWLEDGE = "x-warmpath-knowledge";
  private static final String MORI_SESSION = "x-mori-session-id";

  /**
   * Never forwarded: the worker's key goes in {@code Authorization}'s place, and the rest belongs
   * to one connection.
   */
  private static final Set<String> NOT_FORWARDED =
      Set.of(
          "authorization",
          "x-api-key",
          "cookie",
          "host",
          "content-length",
          "connection",
          "keep-alive",
          "transfer-encoding",
          "te",
          "trailer",
          "upgrade",
          "expect",
          "accept-encoding",
          "proxy-authorization",
          "proxy-connection");

  private OptionsReader() {}

  /**
   * The request's options: what was set in code, else what its headers say.
   *
   * @throws InvalidRequestException when a header holds no number where one is due
   */
  static RouteOptions options(RouterRequest request) {
    RouteOptions set = request.options();
    Headers headers = request.headers();
    if (headers.size() == 0) {
      return set;
    }
    Duration deadline = set.deadline();
    if (deadline == null) {
      Long millis = number(headers, "x-warmpath-deadline-ms");
      if (millis != null && millis <= 0) {
        throw new InvalidRequestException("header x-warmpath-deadline-ms must be at least 1", null);
      }
      deadline = millis == null ? null : Duration.ofMillis(millis);
    }
    int priority = set.priority();
    if (priority == 0) {
      Long given = number(headers, "x-warmpath-priority");
      priority =
          given == null ? 0 : (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, given));
    }
    return new RouteOptions(
        deadline,
        priority,
        first(set.sessionKey(), headers.get(SESSION), headers.get(MORI_SESSION)),
        first(set.user(), headers.get("x-warmpath-user"), null),
        first(set.pin(), headers.get("x-warmpath-pin"), null),
        first(set.profile(), headers.get("x-warmpath-profile"), null),
        set.knowledge() == null ? knowledge(headers) : set.knowledge());
  }

  private static @Nullable KnowledgeNeeds knowledge(Headers headers) {
    String ids = headers.get(KNOWLEDGE);
    String retrieve = headers.get(KNOWLEDGE + "-retrieve");
    if (ids == null && retrieve == null) {
      return null;
    }
    List<String> named = new ArrayList<>();
    for (String id : ids == null ? new String[0] : ids.split(",", -1)) {
      if (!id.isBlank()) {
        named.add(id.strip());
      }
    }
    String way = headers.get(KNOWLEDGE + "-injection");
    try {
      return new KnowledgeNeeds(
          named,
          List.of(),
          retrieve != null && retrieve.strip().equalsIgnoreCase("true"),
          way == null ? null : KnowledgeInjection.of(way));
    } catch (IllegalArgumentException e) {
      throw new InvalidRequestException("header " + KNOWLEDGE + "-injection: " + e.getMessage(), e);
    }
  }

  private static @Nullable String first(
      @Nullable String set, @Nullable String header, @Nullable String other) {
    String found = set != null ? set : header != null ? header : other;
    return found == null || found.isBlank() ? null : found.trim();
  }

  private static @Nullable Long number(Headers headers, String name) {
    String text = headers.get(name);
    if (text == null) {
      return null;
    }
    try {
      return Long.parseLong(text.trim());
    } catch (NumberFormatException e) {
      throw new InvalidRequestException("header " + name + " must be a whole number", null);
    }
  }

  /** The headers that go to the worker. */
  static Headers forwarded(Headers headers) {
    return headers.filter(
        name -> {
          String lower = name.toLowerCase(Locale.ROOT);
          return !lower.startsWith(PREFIX)
              && !lower.equals(MORI_SESSION)
              && !NOT_FORWARDED.contains(lower);
        });
  }
}
