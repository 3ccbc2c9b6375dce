package dev.warmpath.policy;

import dev.warmpath.index.BranchPath;

/**
 * Finds the place where a prompt leaves what many share: the deepest fork of its way whose branches
 * are used again, so that each deserves a home of its own. A system prompt is one, since every
 * conversation goes on from there and comes back; a document is none for questions that are asked
 * once, and all of them belong to the document's home.
 *
 * <p>All clients go by the same numbers, which differ between them by chance only: they agree as
 * soon as each has seen three branches, and some of them again.
 */
final class Hub {
  /** No stretch ends at a hub. */
  static final int NONE = -1;

  /** The share of visits of a fork that must have found their branch used before. */
  private static final double LEAST_REUSE = 0.08;

  /** Visits without reuse that are taken for granted: reuse must be proven. */
  private static final double DOUBTS = 2;

  /** Replicas from which on a fork's branches are told apart whether they are used again or not. */
  private static final double CROWDED = 4;

  private Hub() {}

  /**
   * The stretch of the path at whose end the hub is, or {@link #NONE}.
   *
   * @param workers the workers there are
   */
  static int find(BranchPath path, int workers) {
    for (int i = path.size() - 1; i >= 0; i--) {
      if (path.fans(i) && (reused(path, i) || crowded(path, i, workers))) {
        return i;
      }
    }
    return NONE;
  }

  private static boolean reused(BranchPath path, int i) {
    return path.reused(i) / (path.visits(i) + DOUBTS) >= LEAST_REUSE;
  }

  private static boolean crowded(BranchPath path, int i, int workers) {
    return Popularity.deserved(path.count(i), path.total(), workers) >= CROWDED;
  }
}
