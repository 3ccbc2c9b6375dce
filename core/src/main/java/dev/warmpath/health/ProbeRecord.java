package dev.warmpath.health;

/**
 * What a worker's probes amount to: a count of failures or passes in a row, and the verdict they
 * have led to. Not thread safe.
 *
 * <pre>
 *   UNTRIED --first pass--> PASSING --failuresToDown failures--> FAILING
 *   UNTRIED --failuresToDown failures--> FAILING --first pass ever--> PASSING
 *   FAILING --passesToUp passes, once it had passed before--> PASSING
 *   any --proof of life--> PASSING
 * </pre>
 */
final class ProbeRecord {
  /** What is held of a worker. */
  enum Verdict {
    /** Nothing yet. */
    UNTRIED,
    /** It works. */
    PASSING,
    /** It does not. */
    FAILING
  }

  private Verdict verdict = Verdict.UNTRIED;
  private boolean passedBefore;
  private int failures;
  private int passes;

  Verdict verdict() {
    return verdict;
  }

  /**
   * Whether nothing speaks against the verdict: no failure while passing, no pass while failing.
   */
  boolean settled() {
    return verdict == Verdict.PASSING && failures == 0;
  }

  void pass(int passesToUp) {
    failures = 0;
    if (verdict == Verdict.PASSING) {
      return;
    }
    passes++;
    if (!passedBefore || passes >= passesToUp) {
      become(Verdict.PASSING);
    }
  }

  void fail(int failuresToDown) {
    passes = 0;
    failures++;
    if (verdict != Verdict.FAILING && failures >= failuresToDown) {
      become(Verdict.FAILING);
    }
  }

  /** Takes a success of a real request: more than any probe can say. */
  void alive() {
    become(Verdict.PASSING);
  }

  private void become(Verdict next) {
    verdict = next;
    passedBefore |= next == Verdict.PASSING;
    failures = 0;
    passes = 0;
  }

  @Override
  public String toString() {
    return verdict + "(" + failures + " failures, " + passes + " passes)";
  }
}
