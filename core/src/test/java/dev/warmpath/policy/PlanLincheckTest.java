package dev.warmpath.policy;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** The marks of what a plan has given, and the round-robin turns, beside each other. */
class PlanLincheckTest {
  /** Claims by number: each succeeds once, whoever is first. */
  @Param(name = "candidate", gen = IntGen.class, conf = "0:3")
  public static class Claims {
    private static final TestFleet FLEET = new TestFleet(130);

    private final ChainPlan plan = new ChainPlan((ChainPolicy) Policies.random(), FLEET.context(1));

    @Operation
    public boolean claim(@Param(name = "candidate") int candidate) {
      return plan.claim(candidate * 43);
    }

    @Operation
    public boolean given(@Param(name = "candidate") int candidate) {
      return plan.given(candidate * 43);
    }
  }

  /** Turns of a few sets. */
  @Param(name = "set", gen = IntGen.class, conf = "1:3")
  public static class Turns {
    private final Cursors cursors = new Cursors(1);

    @Operation
    public long take(@Param(name = "set") int set) {
      return cursors.take(set);
    }

    @Operation
    public long peek(@Param(name = "set") int set) {
      return cursors.peek(set);
    }
  }

  @Test
  void aCandidateIsClaimedOnce() {
    new StressOptions()
        .iterations(4)
        .invocationsPerIteration(200)
        .threads(3)
        .actorsPerThread(3)
        .check(Claims.class);
  }

  @Test
  void turnsAreTakenOneByOne() {
    new StressOptions()
        .iterations(4)
        .invocationsPerIteration(200)
        .threads(3)
        .actorsPerThread(3)
        .check(Turns.class);
  }
}
