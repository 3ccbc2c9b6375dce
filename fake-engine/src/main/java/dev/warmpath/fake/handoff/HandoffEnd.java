package dev.warmpath.fake.handoff;

/** How a handoff ended. */
public enum HandoffEnd {
  /** The destination generates and the source has forgotten the KV. */
  SUCCESS,
  /** Both sides have forgotten everything. */
  CANCELED
}
