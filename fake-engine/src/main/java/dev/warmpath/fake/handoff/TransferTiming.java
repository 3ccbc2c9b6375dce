package dev.warmpath.fake.handoff;

/** What the time of a KV transfer is charged for. */
public enum TransferTiming {
  /** The whole prompt. */
  FULL_PROMPT,
  /** Only what the destination's cache lacks. */
  DESTINATION_MISSING
}
