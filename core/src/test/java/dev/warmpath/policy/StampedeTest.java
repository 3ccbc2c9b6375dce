package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.policy.ServingSimulation.Arrival;
import dev.warmpath.policy.ServingSimulation.Change;
import dev.warmpath.policy.ServingSimulation.Incident;
import dev.warmpath.policy.ServingSimulation.Outcome;
import dev.warmpath.policy.ServingSimulation.Second;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many clients with pictures of their own, up to a second old, meet a worker whose cache is empty:
 * they don't all run there, nor all away from it.
 */
class StampedeTest {
  private static final int WORKERS = 8;
  private static final int CLIENTS = 64;

  /** Requests a second once all conversations have begun: half of them, in the window. */
  private static final double RATE = 220;

  /** A herd lasts until telemetry shows it, a second later. */
  private static final int WINDOW = 2;

  private static final int CHANGES = 18;
  private static final int COLD = 7;
  private static final List<Arrival> CHATS = ServingWorkloads.sessions((int) (RATE * 22), RATE, 1);

  /** What happens to the worker that is cold, or gone, from {@link #CHANGES} on. */
  enum Event {
    JOINS,
    RESTARTS,
    IS_FLUSHED,
    LEAVES
  }

  private static List<Incident> incidents(Event event) {
    double at = CHANGES * 1e3;
    return switch (event) {
      case JOINS -> List.of(new Incident(at, COLD, Change.JOIN));
      case RESTARTS ->
          List.of(new Incident(at - 5e3, COLD, Change.LEAVE), new Incident(at, COLD, Change.JOIN));
      case IS_FLUSHED -> List.of(new Incident(at, COLD, Change.FLUSH));
      case LEAVES -> List.of(new Incident(at, COLD, Change.LEAVE));
    };
  }

  private static Outcome run(String policy, Event event) {
    return ServingSimulation.run(
        Policies.parse(policy), WORKERS, CLIENTS, CHATS, incidents(event), 1);
  }

  /** The seconds from the event on, while users still come. */
  private static List<Second> after(Outcome outcome) {
    return outcome.seconds().subList(CHANGES, Math.min(outcome.seconds().size(), CHANGES + 15));
  }

  /** The largest share of a window's requests that one worker got, in fair shares. */
  private static double most(Outcome outcome) {
    List<Second> seconds = after(outcome);
    double most = 0;
    for (int from = 0; from + WINDOW <= seconds.size(); from++) {
      int[] sums = new int[WORKERS];
      for (Second second : seconds.subList(from, from + WINDOW)) {
        Arrays.setAll(sums, i -> sums[i] + second.received()[i]);
      }
      int all = Arrays.stream(sums).sum();
      most = Math.max(most, Arrays.stream(sums).max().orElseThrow() * (double) WORKERS / all);
    }
    return most;
  }

  private static int longestQueue(Outcome outcome) {
    return after(outcome).stream()
        .flatMapToInt(second -> Arrays.stream(second.queued()))
        .max()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource
  void homesGetTheirShareAndNoMore(Event event) {
    Outcome outcome = run("homing", event);
    assertThat(most(outcome)).isLessThan(2);
    assertThat(longestQueue(outcome)).isLessThan(8);
  }

  /**
   * All that a herd could get is eight shares. Without own requests in the count, and two at random
   * of those that look best, these come to more than three.
   */
  @ParameterizedTest
  @EnumSource
  void whoeverLooksAtLoadOnlyIsNotDrawnThereForLong(Event event) {
    for (String policy : List.of("power_of_two", "shortest_queue", "cache_aware", "linear_cost")) {
      Outcome outcome = run(policy, event);
      assertThat(most(outcome)).as(policy).isLessThan(3);
      assertThat(longestQueue(outcome)).as(policy).isLessThan(36);
    }
  }
}
