package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Fleet;
import dev.warmpath.health.FleetView;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Clients that never talk to each other send a prompt to the same worker. */
class HomingAgreementTest {
  private static final RoutingPolicy HOMING = Policies.homing();

  /** One client with its own list of workers, epochs, slots and statistics. */
  private static final class Client implements AutoCloseable {
    private final WorkerRegistry registry = new WorkerRegistry();
    private final Fleet fleet = new Fleet(registry, gone -> {});
    final BranchTrie trie = BranchTrie.builder().ticker(() -> 0).build();
    private final RoutingEnvironment environment =
        RoutingEnvironment.builder().branches(trie).build();
    private final HomingFeedback feedback = new HomingFeedback(environment);
    private long seed;

    void workers(List<String> names, int ranks) {
      List<WorkerSpec> specs = new ArrayList<>();
      for (String name : names) {
        specs.add(WorkerSpec.builder(name).dpSize(ranks).build());
      }
      registry.replace("test", specs);
    }

    void learn(Prompt prompt, int cachedKeys) {
      feedback.dispatched(prompt).served(cachedKeys * HomingPrompts.TOKENS, 16);
    }

    RoutePlan plan(Prompt prompt) {
      FleetView view = fleet.view();
      return HOMING.plan(
          new RouteContext(
              view,
              view.topology().candidates("m", WorkerRole.REGULAR),
              prompt,
              RouteOptions.NONE,
              environment,
              0,
              seed++,
              false));
    }

    String first(Prompt prompt) {
      return plan(prompt).next().target().toString();
    }

    @Override
    public void close() {
      fleet.close();
    }
  }

  private static List<String> names(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("http://10.0.0." + i + ":30000");
    }
    return names;
  }

  private static Prompt prompt(int number) {
    return HomingPrompts.of("SYS" + (char) (0x4000 + number));
  }

  private static void learnSessions(Client client, Random random, int sessions) {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < sessions; i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
    for (int i : order) {
      client.learn(prompt(i), 3);
    }
    for (int i : order) {
      client.learn(prompt(i), 4);
    }
  }

  @Property(tries = 40)
  void shuffledListsAndOtherEpochsAndSlotsMakeNoDifference(
      @ForAll @IntRange(min = 1, max = 24) int workers,
      @ForAll @IntRange(min = 1, max = 2) int ranks,
      @ForAll long seed) {
    Random random = new Random(seed);
    try (Client one = new Client();
        Client other = new Client()) {
      List<String> names = names(workers);
      one.workers(names, ranks);
      List<String> shuffled = new ArrayList<>(names);
      Collections.shuffle(shuffled, random);
      other.workers(shuffled.subList(0, random.nextInt(workers) + 1), ranks);
      other.workers(List.of(), ranks); // all that come again are of new epochs and slots
      other.workers(shuffled, ranks);
      learnSessions(one, random, 20);
      learnSessions(other, random, 20);
      for (int i = 0; i < 20; i++) {
        Prompt asked = prompt(1_000 + i);
        assertThat(TestFleet.walk(one.plan(asked))).isEqualTo(TestFleet.walk(other.plan(asked)));
      }
    }
  }

  @Property(tries = 30)
  void listsThatDifferAgreeOnAllButTheMissingWorkersKeys(
      @ForAll @IntRange(min = 2, max = 24) int workers, @ForAll long seed) {
    Random random = new Random(seed);
    try (Client one = new Client();
        Client other = new Client()) {
      List<String> names = names(workers);
      one.workers(names, 1);
      List<String> some = new ArrayList<>(names);
      Collections.shuffle(some, random);
      some = some.subList(0, 1 + random.nextInt(workers - 1));
      other.workers(some, 1);
      for (int i = 0; i < 50; i++) {
        Prompt asked = HomingPrompts.of("" + (char) (0x4000 + random.nextInt(20_000)));
        String home = one.first(asked);
        if (some.contains(home)) {
          assertThat(other.first(asked)).isEqualTo(home);
        }
      }
    }
  }

  @Test
  void aWorkerThatComesOrGoesMovesItsOwnKeysOnly() {
    int keys = 4_000;
    try (Client client = new Client()) {
      List<String> names = names(16);
      client.workers(names, 1);
      Map<Integer, String> before = homes(client, keys);
      List<String> fewer = names.subList(0, 15);
      client.workers(fewer, 1);
      Map<Integer, String> without = homes(client, keys);
      client.workers(names, 1);
      assertThat(homes(client, keys)).isEqualTo(before);
      int moved = 0;
      for (int i = 0; i < keys; i++) {
        if (!before.get(i).equals(without.get(i))) {
          assertThat(before.get(i)).isEqualTo(names.get(15));
          moved++;
        }
      }
      assertThat(moved / (keys / 16.0)).isBetween(0.9, 1.1);
      Map<String, Integer> shares = new HashMap<>();
      before.values().forEach(home -> shares.merge(home, 1, Integer::sum));
      assertThat(shares.values())
          .allSatisfy(n -> assertThat(n / (keys / 16.0)).isBetween(0.75, 1.25));
    }
  }

  /**
   * The four things that happen to a worker, below a hub that clients have learned: each moves its
   * share of the conversations to within a tenth, five standard deviations, or none.
   */
  @Property(tries = 5)
  void onlyTheKeysConcernedMove(
      @ForAll @IntRange(min = 2, max = 7) int workers, @ForAll long seed) {
    Random random = new Random(seed);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      names.add("http://gpu-" + Long.toHexString(random.nextLong()) + ":30000");
    }
    String one = names.get(random.nextInt(workers));
    List<String> others = names.stream().filter(name -> !name.equals(one)).toList();
    List<Prompt> prompts = IntStream.range(0, 2_500 * workers).mapToObj(i -> prompt(i)).toList();
    try (Client client = new Client();
        Client peer = new Client()) {
      client.workers(names, 1);
      peer.workers(names, 1);
      learnSessions(client, random, 100);
      learnSessions(peer, random, 100);
      List<String> all = homes(client, prompts);

      // Removed: its own go, to those that the key's order names next.
      client.workers(others, 1);
      List<String> without = homes(client, prompts);
      peer.workers(others, 1);
      assertThat(homes(peer, prompts.subList(0, 500))).isEqualTo(without.subList(0, 500));
      int moved = 0;
      for (int i = 0; i < all.size(); i++) {
        if (!all.get(i).equals(without.get(i))) {
          assertThat(all.get(i)).isEqualTo(one);
          moved++;
        }
      }
      assertThat(moved / 2_500.0).isBetween(0.9, 1.1);

      // Added, or back from a restart as another incarnation: the same come back, and no others.
      client.workers(names, 1);
      assertThat(homes(client, prompts)).isEqualTo(all);

      // Flushed: that its conversations are cold for a turn, known ones and new, moves nothing.
      for (int i = 0; i < 140; i++) {
        if (all.get(i).equals(one)) {
          client.learn(prompts.get(i), 0);
        }
      }
      assertThat(homes(client, prompts)).isEqualTo(all);
    }
  }

  private static List<String> homes(Client client, List<Prompt> prompts) {
    return prompts.stream().map(client::first).toList();
  }

  private static Map<Integer, String> homes(Client client, int keys) {
    Map<Integer, String> homes = new HashMap<>();
    for (int i = 0; i < keys; i++) {
      homes.put(i, client.first(HomingPrompts.of("" + (char) i)));
    }
    return homes;
  }

  @Test
  void clientsAgreeOnKeyAndOrderWhateverTheOrderOfTheirTraffic() {
    try (Client one = new Client();
        Client other = new Client()) {
      one.workers(names(16), 1);
      other.workers(names(16), 1);
      learnSessions(one, new Random(1), 200);
      learnSessions(other, new Random(2), 200);
      for (int i = 0; i < 300; i++) {
        assertThat(one.first(prompt(i))).isEqualTo(other.first(prompt(i)));
      }
    }
  }

  @Test
  void aColdClientAgreesOnceItHasSeenThreeBranchesAndOneAgain() {
    try (Client warm = new Client();
        Client cold = new Client()) {
      warm.workers(names(16), 1);
      cold.workers(names(16), 1);
      learnSessions(warm, new Random(1), 200);
      for (int i = 0; i < 3; i++) {
        cold.learn(prompt(i), 4); // its workers hold them: other clients sent them
      }
      for (int i = 100; i < 200; i++) {
        assertThat(cold.first(prompt(i))).isEqualTo(warm.first(prompt(i)));
      }
    }
  }
}
