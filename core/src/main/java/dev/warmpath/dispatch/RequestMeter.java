package dev.warmpath.dispatch;

import dev.warmpath.api.RequestTimings;
import dev.warmpath.api.RouterListener;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A listener of the client's own that counts what every request comes to, and for which no event is
 * made on the way: an event is a copy of the decision, and a count needs little of it. Of how
 * attempts and requests end it hears as other listeners do. What it throws is not caught.
 */
public interface RequestMeter extends RouterListener {
  /**
   * A plan was made.
   *
   * @param policy the policy's name
   * @param elapsedNanos since the request was given to the client
   * @param timings where that time went
   * @param lookedUp whether an index outside of the client was asked
   */
  void routed(String policy, long elapsedNanos, RequestTimings timings, boolean lookedUp);

  /**
   * An attempt begins.
   *
   * @param worker the attempt's worker
   * @param number the attempt's number from 1
   */
  void attempting(@Nullable String worker, int number);

  /**
   * The first byte of an answer arrived.
   *
   * @param worker the attempt's worker
   * @param elapsedNanos since the request was given to the client
   * @param sinceAttempt since the attempt began
   */
  void firstByte(@Nullable String worker, long elapsedNanos, @Nullable Duration sinceAttempt);
}
