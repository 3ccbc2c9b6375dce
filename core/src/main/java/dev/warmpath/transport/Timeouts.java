package dev.warmpath.transport;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long an exchange may take, part by part. A prefill under load may be silent for long, a
 * decode may not: so the two have deadlines of their own.
 *
 * @param connect to make a connection
 * @param firstToken from sending to the first byte of the response body (of a whole response: to
 *     its end)
 * @param interToken between two reads of a stream, once it flows
 * @param total what is left of the request's deadline, or null for none
 */
public record Timeouts(
    Duration connect, Duration firstToken, Duration interToken, @Nullable Duration total) {

  /** 2 s to connect, 10 min to the first token, 60 s between tokens, no total. */
  public static final Timeouts DEFAULT =
      new Timeouts(Duration.ofSeconds(2), Duration.ofMinutes(10), Duration.ofSeconds(60), null);

  /** These with another total. */
  public Timeouts withTotal(@Nullable Duration total) {
    return new Timeouts(connect, firstToken, interToken, total);
  }
}
