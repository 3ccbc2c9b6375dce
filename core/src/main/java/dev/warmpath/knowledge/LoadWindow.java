package dev.warmpath.knowledge;

/** How the second stage says that a target is not much busier than the least busy one. */
public enum LoadWindow {

  /**
   * By requests in flight over capacity. Where a capacity is unknown, {@link #IN_FLIGHT} is used.
   */
  RATIO,

  /** By requests in flight. */
  IN_FLIGHT
}
