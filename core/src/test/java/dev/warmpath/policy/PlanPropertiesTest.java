package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Availability;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** What holds for every policy in every state of the fleet. */
class PlanPropertiesTest {
  @Provide
  Arbitrary<String> policies() {
    return Arbitraries.of(Policies.names())
        .list()
        .ofMinSize(1)
        .ofMaxSize(3)
        .map(names -> String.join(">", names));
  }

  /** A fleet in a state that the seed decides, of which some is unknown, stale or sick. */
  private static TestFleet fleet(int workers, long seed) {
    Random random = new Random(seed);
    TestFleet fleet = new TestFleet(workers, 1 + random.nextInt(2));
    for (int i = 0; i < fleet.candidates().size(); i++) {
      switch (random.nextInt(6)) {
        case 0 -> fleet.availability(i, Availability.DOWN);
        case 1 -> fleet.availability(i, Availability.SUSPECT);
        case 2 -> fleet.availability(i, Availability.UP);
        case 3 -> fleet.degraded(i, random.nextDouble());
        default -> {}
      }
      fleet.own(i, random.nextInt(3), random.nextInt(5_000));
      if (random.nextBoolean()) {
        fleet.load(i, random.nextInt(3), random.nextInt(2), maybe(random), maybe(random));
      }
      fleet.own(i, random.nextInt(2), random.nextInt(5_000));
      if (random.nextBoolean()) {
        fleet.latency(i, 1 + random.nextInt(500));
      }
      if (random.nextBoolean()) {
        fleet.holds(i, random.nextInt(4_000));
      }
    }
    if (random.nextInt(8) == 0) {
      fleet.now += 2 * fleet.environment().telemetryLimitNanos();
    }
    return fleet;
  }

  private static double maybe(Random random) {
    return random.nextBoolean() ? Double.NaN : random.nextDouble();
  }

  private static RouteContext context(TestFleet fleet, long seed) {
    Random random = new Random(seed);
    String pin =
        random.nextBoolean() ? TestFleet.name(random.nextInt(12)) : null; // often nobody's name
    String session = random.nextBoolean() ? "session-" + random.nextInt(100) : null;
    return fleet.context(
        random.nextInt(6_000), new RouteOptions(null, 0, session, null, pin, null), seed);
  }

  @Property(tries = 300)
  void aPlanGivesEachCandidateOnceTheHealthyFirst(
      @ForAll("policies") String name, @ForAll @IntRange(max = 9) int workers, @ForAll long seed) {
    try (TestFleet fleet = fleet(workers, seed)) {
      List<Candidate> all = TestFleet.drain(Policies.parse(name).plan(context(fleet, seed)));
      assertThat(all)
          .extracting(Candidate::target)
          .containsExactlyInAnyOrderElementsOf(fleet.candidates().asList());
      List<Integer> tiers = new ArrayList<>();
      for (Candidate candidate : all) {
        Availability availability = fleet.view().state(candidate.target()).availability();
        boolean sick = availability == Availability.SUSPECT || availability == Availability.DOWN;
        assertThat(candidate.lastResort()).isEqualTo(sick);
        tiers.add(availability == Availability.DOWN ? 2 : sick ? 1 : 0);
      }
      assertThat(tiers).isSorted();
    }
  }

  @Property(tries = 300)
  void theSameSeedAndStateGiveTheSamePlan(
      @ForAll("policies") String name, @ForAll @IntRange(max = 9) int workers, @ForAll long seed) {
    try (TestFleet fleet = fleet(workers, seed);
        TestFleet twin = fleet(workers, seed)) {
      List<Candidate> one = TestFleet.drain(Policies.parse(name).plan(context(fleet, seed)));
      List<Candidate> other = TestFleet.drain(Policies.parse(name).plan(context(twin, seed)));
      assertThat(one).isEqualTo(other);
    }
  }

  @Property(tries = 300)
  void explainTellsThePlan(
      @ForAll("policies") String name, @ForAll @IntRange(max = 9) int workers, @ForAll long seed) {
    try (TestFleet fleet = fleet(workers, seed)) {
      RoutingPolicy policy = Policies.parse(name);
      RouteContext context = context(fleet, seed);
      List<CandidateView> told = policy.explain(context).candidates();
      List<Candidate> given = TestFleet.drain(policy.plan(context));
      assertThat(told).hasSameSizeAs(given);
      for (int i = 0; i < given.size(); i++) {
        Candidate candidate = given.get(i);
        CandidateView view = told.get(i);
        assertThat(view.worker()).isEqualTo(candidate.target().worker().id().value());
        assertThat(view.rank())
            .isEqualTo(
                candidate.target().rank().isPresent()
                    ? Integer.valueOf(candidate.target().rank().getAsInt())
                    : null);
        assertThat(view.step()).isEqualTo(candidate.step());
        assertThat(Double.valueOf(view.score())).isEqualTo(Double.valueOf(candidate.score()));
        assertThat(view.matchedTokens()).isEqualTo(candidate.matchedTokens());
        assertThat(view.state()).isEqualTo(fleet.view().state(candidate.target()).label());
        if (!view.terms().isEmpty()) {
          double sum = view.terms().values().stream().mapToDouble(Double::doubleValue).sum();
          assertThat(sum).isCloseTo(view.score(), org.assertj.core.api.Assertions.within(1e-9));
        }
      }
    }
  }

  @Property(tries = 100)
  void aNewWorkerTakesNoMoreThanItsShareOfSessions(
      @ForAll @IntRange(min = 2, max = 12) int workers, @ForAll long seed) {
    int sessions = 2_000;
    try (TestFleet before = new TestFleet(workers);
        TestFleet after = new TestFleet(workers + 1)) {
      int moved = 0;
      for (int i = 0; i < sessions; i++) {
        RouteOptions options = TestFleet.session(seed + "/" + i);
        int was = TestFleet.first(Policies.session(), before.context(10, options, i));
        int is = TestFleet.first(Policies.session(), after.context(10, options, i));
        if (was != is) {
          assertThat(is).isEqualTo(workers); // to the new one only
          moved++;
        }
      }
      double share = 1.0 / (workers + 1);
      double deviation = Math.sqrt(sessions * share * (1 - share));
      assertThat(moved).isLessThanOrEqualTo((int) (sessions * share + 6 * deviation));
    }
  }

  @Test
  void concurrentCallersGetDifferentCandidates() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (String name : Policies.names()) {
        for (int round = 0; round < 50; round++) {
          try (TestFleet fleet = fleet(70, round)) {
            RoutePlan plan = Policies.parse(name).plan(context(fleet, round));
            CountDownLatch start = new CountDownLatch(1);
            Callable<List<Candidate>> walk =
                () -> {
                  start.await();
                  return TestFleet.drain(plan);
                };
            List<Future<List<Candidate>>> walks = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
              walks.add(threads.submit(walk));
            }
            start.countDown();
            List<Candidate> all = new ArrayList<>();
            for (Future<List<Candidate>> done : walks) {
              all.addAll(done.get());
            }
            assertThat(all)
                .extracting(Candidate::target)
                .containsExactlyInAnyOrderElementsOf(fleet.candidates().asList());
          }
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
