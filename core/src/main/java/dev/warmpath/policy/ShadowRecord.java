package dev.warmpath.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/** What shadow decisions came to: sums, and the last ones. Bounded, thread safe, lock-free. */
final class ShadowRecord {
  /** How many decisions are kept. */
  static final int KEPT = 256;

  private final AtomicReferenceArray<PolicySwitch.ShadowDecision> last =
      new AtomicReferenceArray<>(KEPT);
  private final AtomicLong decisions = new AtomicLong();
  private final LongAdder agreed = new LongAdder();
  private final LongAdder wouldMatch = new LongAdder();
  private final LongAdder wentMatch = new LongAdder();

  void add(Candidate would, Candidate went) {
    boolean same = would.target().holderId() == went.target().holderId();
    if (same) {
      agreed.increment();
    }
    wouldMatch.add(would.matchedTokens());
    wentMatch.add(went.matchedTokens());
    long number = decisions.getAndIncrement();
    last.set(
        (int) (number % KEPT),
        new PolicySwitch.ShadowDecision(
            would.target().toString(),
            went.target().toString(),
            would.matchedTokens(),
            went.matchedTokens()));
  }

  PolicySwitch.ShadowStats stats() {
    return new PolicySwitch.ShadowStats(
        decisions.get(), agreed.sum(), wouldMatch.sum(), wentMatch.sum());
  }

  /** The last ones, oldest first. */
  List<PolicySwitch.ShadowDecision> last() {
    long end = decisions.get();
    List<PolicySwitch.ShadowDecision> all = new ArrayList<>();
    for (long i = Math.max(0, end - KEPT); i < end; i++) {
      PolicySwitch.ShadowDecision decision = last.get((int) (i % KEPT));
      if (decision != null) {
        all.add(decision);
      }
    }
    return all;
  }
}
