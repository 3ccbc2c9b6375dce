package dev.warmpath.fake.study;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The frozen policies by name. Other projects' rules are re-implemented from their public
 * descriptions: a figure is one of that rule in this simulation, not of that product.
 *
 * <table>
 *   <caption>Frozen policies</caption>
 *   <tr><th>knows</th><th>names</th></tr>
 *   <tr><td>its own requests and polls</td><td>rr random p2c least cache_aware ca_tight linear dynamo
 *       llmd preble chwbl chwbl_deep</td></tr>
 *   <tr><td>the conversation's id, too</td><td>sesshash</td></tr>
 *   <tr><td>cache events, too</td><td>linear_ev linear_ev_tuned dynamo_ev llmd_ev</td></tr>
 *   <tr><td>one index without delay that all clients share</td><td>ca_shared</td></tr>
 *   <tr><td>everything but the future</td><td>oracle oracle2</td></tr>
 * </table>
 */
public final class StudyPolicies {
  /** Makes a run's clients: given its fleet, makes one client after the other. */
  interface Arm extends Function<StudyFleet, Supplier<Baseline>> {}

  private static final Map<String, Arm> ARMS = new LinkedHashMap<>();

  static {
    each("rr", RoundRobin::new);
    each("random", () -> (client, prompt) -> client.random().nextInt(client.workers()));
    each("p2c", () -> StudyPolicies::twoChoices);
    each("least", () -> StudyPolicies::leastLoaded);
    each("cache_aware", () -> new CacheAwareTree(new LongMap(), false, 0.3, 64, 1.5));
    each("ca_tight", () -> new CacheAwareTree(new LongMap(), false, 0.5, 32, 1.1));
    ARMS.put("linear", fleet -> () -> new LinearScore(new PrivateHoldings(), fleet.size(), 32, 2));
    ARMS.put("dynamo", fleet -> () -> new DynamoLike(new FadingHoldings(), fleet.size()));
    ARMS.put(
        "llmd",
        fleet ->
            () ->
                new LlmdLike(
                    new RecentHoldings(fleet.size(), fleet.worker(0).blockTokens()),
                    fleet.size(),
                    2,
                    1,
                    1));
    ARMS.put("preble", fleet -> () -> new PrebleLike(fleet.size()));
    each("chwbl", () -> new BoundedHash(256));
    each("chwbl_deep", () -> new BoundedHash(4_096));
    each(
        "sesshash", () -> (client, prompt) -> Rendezvous.winner(prompt.family(), client.workers()));
    events("linear_ev", fleet -> new LinearScore(fleet.events(), fleet.size(), 32, 2));
    events("linear_ev_tuned", fleet -> new LinearScore(fleet.events(), fleet.size(), 64, 6));
    events("dynamo_ev", fleet -> new DynamoLike(fleet.events(), fleet.size()));
    events("llmd_ev", fleet -> new LlmdLike(fleet.events(), fleet.size(), 3, 2, 2));
    ARMS.put(
        "ca_shared",
        fleet -> {
          LongMap shared = new LongMap();
          return () -> new CacheAwareTree(shared, true, 0.3, 64, 1.5);
        });
    each("oracle", () -> new Omniscient(1));
    each("oracle2", () -> new Omniscient(2));
  }

  /** Those that know only their own requests and polls. */
  public static final List<String> PRIVATE =
      List.of(
          "rr",
          "random",
          "p2c",
          "least",
          "cache_aware",
          "ca_tight",
          "linear",
          "dynamo",
          "llmd",
          "preble",
          "chwbl",
          "chwbl_deep");

  /** Those that hear of caches' changes, at their published settings. */
  public static final List<String> EVENTS = List.of("linear_ev", "dynamo_ev", "llmd_ev");

  private StudyPolicies() {}

  private static void each(String name, Supplier<Baseline> client) {
    ARMS.put(name, fleet -> client);
  }

  private static void events(String name, Function<StudyFleet, Baseline> client) {
    ARMS.put(
        name,
        fleet -> {
          fleet.events().subscribe();
          return () -> client.apply(fleet);
        });
  }

  /**
   * Returns the names.
   *
   * @return what {@link Study#run} takes
   */
  public static Set<String> names() {
    return java.util.Collections.unmodifiableSet(ARMS.keySet());
  }

  static Arm arm(String name) {
    Arm arm = ARMS.get(name);
    if (arm == null) {
      throw new IllegalArgumentException(
          "unknown policy '" + name + "' of the study; known are " + ARMS.keySet());
    }
    return arm;
  }

  /** Takes turns, from a worker at random on. */
  private static final class RoundRobin implements Baseline {
    private int next = -1;

    @Override
    public int choose(StudyClient client, StudyPrompt prompt) {
      next = (next < 0 ? client.random().nextInt(client.workers()) : next + 1) % client.workers();
      return next;
    }
  }

  /** The less loaded of two workers at random. */
  private static int twoChoices(StudyClient client, StudyPrompt prompt) {
    int workers = client.workers();
    int one = client.random().nextInt(workers);
    if (workers == 1) {
      return one;
    }
    int other = (one + 1 + client.random().nextInt(workers - 1)) % workers;
    return client.load(other) < client.load(one) ? other : one;
  }

  /** The least loaded of all. */
  private static int leastLoaded(StudyClient client, StudyPrompt prompt) {
    return Cheapest.of(client.workers(), client.random(), client::load);
  }
}
