package dev.warmpath.fake.handoff;

import java.util.Objects;

/**
 * How one handoff is conducted.
 *
 * @param order which side is asked first
 * @param timing what the transfer is charged for
 * @param timeoutMs how long the handoff may take besides its transfer, in milliseconds
 */
public record HandoffSettings(HandoffOrder order, TransferTiming timing, double timeoutMs) {
  /** Five minutes. */
  public static final double DEFAULT_TIMEOUT_MS = 300_000;

  /** Checks the values. */
  public HandoffSettings {
    Objects.requireNonNull(order, "order");
    Objects.requireNonNull(timing, "timing");
    if (!(timeoutMs > 0)) {
      throw new IllegalArgumentException("timeoutMs must be more than 0, was " + timeoutMs);
    }
  }

  /**
   * Transfers whole prompts and gives up after five minutes.
   *
   * @param order which side is asked first
   * @return the settings
   */
  public static HandoffSettings of(HandoffOrder order) {
    return new HandoffSettings(order, TransferTiming.FULL_PROMPT, DEFAULT_TIMEOUT_MS);
  }
}
