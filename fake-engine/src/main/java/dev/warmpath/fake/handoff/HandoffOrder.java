package dev.warmpath.fake.handoff;

/** Which side of a handoff is asked first. */
public enum HandoffOrder {
  /** The prompt is computed, then room is asked for (vLLM). */
  SOURCE_FIRST,
  /** Room is asked for, then the prompt is computed (SGLang). */
  DESTINATION_FIRST
}
