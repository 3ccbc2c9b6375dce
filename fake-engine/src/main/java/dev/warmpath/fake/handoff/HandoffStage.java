package dev.warmpath.fake.handoff;

/** What can be said of a handoff's progress, each at most once. */
public enum HandoffStage {
  /** The prompt is computed and the source holds its KV. */
  SOURCE_HELD,
  /** The destination has queued the reservation. */
  DESTINATION_ACCEPTED,
  /** The destination has room. */
  DESTINATION_RESERVED,
  /** The KV has arrived and the destination may generate. */
  DESTINATION_ACTIVATED,
  /** The source has forgotten the KV. */
  SOURCE_RELEASED,
  /** It has ended in success. */
  COMPLETED,
  /** It was given up and both sides have forgotten everything. */
  CANCELED
}
