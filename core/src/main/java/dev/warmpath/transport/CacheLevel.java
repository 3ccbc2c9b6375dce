package dev.warmpath.transport;

/** A tier of an engine's KV cache, as operators name them. */
public enum CacheLevel {
  /** In the accelerator's memory. */
  L1,
  /** In the host's memory. */
  L2,
  /** In a store outside of the engine's process. */
  L3
}
