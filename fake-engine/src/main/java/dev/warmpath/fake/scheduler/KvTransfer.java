package dev.warmpath.fake.scheduler;

import java.util.Objects;

/**
 * How long the KV of a prompt takes from a source to a destination.
 *
 * @param bytesPerToken size of one token's KV over all layers; 0 if unknown
 * @param gigabytesPerSecond bandwidth in 10^9 bytes a second; 0 or less for transfers without delay
 * @param timing which tokens are charged
 */
public record KvTransfer(long bytesPerToken, double gigabytesPerSecond, Timing timing) {

  /** Which tokens of a prompt are charged. */
  public enum Timing {
    /** All of them. */
    FULL_PROMPT,
    /** Those that the destination didn't find in its own cache. */
    DESTINATION_MISSING
  }

  /** No delay. */
  public static final KvTransfer INSTANT = new KvTransfer(0, 0, Timing.FULL_PROMPT);

  /** Checks the size. */
  public KvTransfer {
    Objects.requireNonNull(timing, "timing");
    if (bytesPerToken < 0) {
      throw new IllegalArgumentException("bytesPerToken must be 0 or more, was " + bytesPerToken);
    }
  }

  /**
   * Returns the time that some tokens take.
   *
   * @param tokens how many
   * @return milliseconds, 0 if size or bandwidth isn't known
   */
  public double delayMs(long tokens) {
    if (!(gigabytesPerSecond > 0)) {
      return 0;
    }
    return tokens * (double) bytesPerToken / (gigabytesPerSecond * 1e9) * 1e3;
  }

  /**
   * Returns the time of one handoff.
   *
   * @param promptTokens length of the prompt
   * @param transferableTokens what {@link EngineEffect.DestinationReserved} says
   * @return milliseconds
   */
  public double handoffMs(int promptTokens, int transferableTokens) {
    return delayMs(
        timing == Timing.FULL_PROMPT ? promptTokens : Math.min(promptTokens, transferableTokens));
  }
}
