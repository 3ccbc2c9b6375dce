package dev.warmpath.knowledge;

/** The published orders of the second stage's steps. */
public enum StageOrder {

  /**
   * As CacheRoute documents it: {@code topology_best_group}, {@code load_safe_window}, {@code
   * knowledge_affinity}, {@code load}. The best link decides before load does, however busy its
   * targets are.
   */
  DOCUMENTED,

  /**
   * As CacheRoute v0.1.9 runs: {@code reachable}, {@code load_safe_window}, {@code
   * knowledge_affinity}, {@code link}, {@code load}. A target far busier than the least busy one is
   * out before links are compared. Links are measured ones here; grades are not looked at.
   */
  LOAD_FIRST
}
