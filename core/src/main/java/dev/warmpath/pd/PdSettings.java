package dev.warmpath.pd;

import java.time.Duration;

/**
 * How requests that take a prefill and a decode worker are carried out.
 *
 * @param timeouts the limits of a session
 * @param strict whether decode's first payload waits (briefly) for prefill's end, and a prefill
 *     that fails later fails the request: decode may then have read KV that was never whole
 * @param directBelowTokens prompts with fewer tokens than this that decode does not hold already go
 *     to a decode worker alone, where its engine can prefill; 0 for never
 * @param pairsFirst whether pairs serve a model that regular workers serve, too
 * @param maxAttempts pairs that are tried for one request, the first included
 * @param roomQuarantine how long a room is not minted again after its session; at least as long as
 *     engines remember it
 * @param maxRooms rooms remembered at most, live and in quarantine; beyond it the oldest in
 *     quarantine leave early
 * @param abortsPerSecond abort calls that one worker is sent at most; engines have deadlocked under
 *     storms of them
 * @param maxReleases touches that are out at once at most, so that a burst of cancellations does
 *     not flood decode; others wait
 */
public record PdSettings(
    PdTimeouts timeouts,
    boolean strict,
    int directBelowTokens,
    boolean pairsFirst,
    int maxAttempts,
    Duration roomQuarantine,
    int maxRooms,
    int abortsPerSecond,
    int maxReleases) {

  /**
   * The default timeouts, strict, never direct, pairs first, 3 attempts, 600 s of quarantine for up
   * to 262,144 rooms, 100 aborts a second to a worker, 32 touches at once.
   */
  public static final PdSettings DEFAULT =
      new PdSettings(
          PdTimeouts.DEFAULT, true, 0, true, 3, Duration.ofMinutes(10), 262_144, 100, 32);

  /** Checks the ranges. */
  public PdSettings {
    if (directBelowTokens < 0) {
      throw new IllegalArgumentException("directBelowTokens must not be negative: 0 is never");
    }
    if (maxAttempts < 1 || maxRooms < 1 || abortsPerSecond < 1 || maxReleases < 1) {
      throw new IllegalArgumentException(
          "maxAttempts, maxRooms, abortsPerSecond and maxReleases must be at least 1");
    }
    if (roomQuarantine.isNegative()) {
      throw new IllegalArgumentException("roomQuarantine must not be negative");
    }
  }

  /** These with other timeouts. */
  public PdSettings withTimeouts(PdTimeouts other) {
    return new PdSettings(
        other,
        strict,
        directBelowTokens,
        pairsFirst,
        maxAttempts,
        roomQuarantine,
        maxRooms,
        abortsPerSecond,
        maxReleases);
  }

  /** These, strict or not. */
  public PdSettings withStrict(boolean other) {
    return new PdSettings(
        timeouts,
        other,
        directBelowTokens,
        pairsFirst,
        maxAttempts,
        roomQuarantine,
        maxRooms,
        abortsPerSecond,
        maxReleases);
  }

  /** These with another threshold for prompts that decode computes alone. */
  public PdSettings withDirectBelowTokens(int other) {
    return new PdSettings(
        timeouts,
        strict,
        other,
        pairsFirst,
        maxAttempts,
        roomQuarantine,
        maxRooms,
        abortsPerSecond,
        maxReleases);
  }

  /** These, preferring pairs or regular workers where a model has both. */
  public PdSettings withPairsFirst(boolean other) {
    return new PdSettings(
        timeouts,
        strict,
        directBelowTokens,
        other,
        maxAttempts,
        roomQuarantine,
        maxRooms,
        abortsPerSecond,
        maxReleases);
  }

  /** These with another number of attempts. */
  public PdSettings withMaxAttempts(int other) {
    return new PdSettings(
        timeouts,
        strict,
        directBelowTokens,
        pairsFirst,
        other,
        roomQuarantine,
        maxRooms,
        abortsPerSecond,
        maxReleases);
  }
}
