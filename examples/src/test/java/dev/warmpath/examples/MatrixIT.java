package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.LookupInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterListener;
import dev.warmpath.examples.MatrixWay.Outcome;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.umbp.FakeUmbpMaster;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every policy x every way of sending x every outcome x prompts known by their text or by their
 * tokens x one worker, a pair of workers, and each gRPC service, over real sockets: a full
 * decision, no lease left, nothing left running at a worker or of the client's threads, and the
 * same choice whichever way the same prompt was sent. Policy {@code umbp} asks a master that knows
 * where the prompt is.
 */
@Tag("long")
class MatrixIT {
  /** Names of threads that read prompts for callers that should not. */
  private static final String PROMPT_THREAD = "warmpath-prompt";

  private static final RouterListener DEAF = new RouterListener() {};

  @TempDir private static Path folder;
  private static Tokenizer tokenizer;
  private static FakeUmbpMaster master;

  private final ConcurrentLinkedQueue<RouterListener.RequestEvent> finished =
      new ConcurrentLinkedQueue<>();
  private @Nullable MatrixFleet used;

  static List<String> promptThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith(PROMPT_THREAD))
        .toList();
  }

  @BeforeAll
  static void startFleets() {
    ModelFiles files = ModelFiles.of(SmallModel.writeTo(folder.resolve(MatrixFleet.MODEL)));
    tokenizer = files.tokenizer();
    master = FakeUmbpMaster.start();
    for (MatrixFleet fleet : MatrixFleet.values()) {
      fleet.start(files, master);
    }
    int nodes =
        MatrixFleet.WORKERS
            * (int) Arrays.stream(MatrixFleet.values()).filter(MatrixFleet::exact).count();
    await().until(() -> master.nodes().size() == nodes);
  }

  @AfterAll
  static void stopFleets() {
    for (MatrixFleet fleet : MatrixFleet.values()) {
      fleet.stop();
    }
    master.close();
  }

  @AfterEach
  void healUsed() {
    if (used != null) {
      heal(used);
    }
  }

  /** As new: no faults, empty caches, and a master that knows of none of them. */
  private static void heal(MatrixFleet fleet) {
    fleet.heal();
    await().until(() -> master.hashes() == 0);
  }

  static List<String> policies() {
    List<String> all = new ArrayList<>(Policies.names());
    all.add(Policies.standard().name());
    return all;
  }

  static List<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (String policy : policies()) {
      for (MatrixFleet fleet : MatrixFleet.values()) {
        for (MatrixWay way : ways(fleet)) {
          cells.add(Arguments.of(policy, way, fleet));
        }
      }
    }
    return cells;
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @MethodSource("cells")
  void leavesNothingBehindHoweverItEnds(String policy, MatrixWay way, MatrixFleet of)
      throws Exception {
    String holder = warmed(policy, of, prompt(policy));
    try (MatrixClient client = client(policy, of, null)) {
      for (Outcome outcome : Outcome.values()) {
        finished.clear();
        client.watched.forget();
        String prompt = prompt(policy) + " until " + outcome;
        end(client, way, outcome, prompt, policy, holder);
        assertNoLease(client);
        assertRead(client, way, outcome);
        assertLocated(holder);
        assertThat(finished).as("told once, to the end: " + outcome).hasSize(1);
      }
    }
    assertThat(finished).hasSize(1);
  }

  private void end(
      MatrixClient client,
      MatrixWay way,
      Outcome outcome,
      String prompt,
      String policy,
      @Nullable String holder)
      throws Exception {
    FakeFleet fleet = client.fleet.fleet();
    switch (outcome) {
      case OK -> {
        RouteDecision decision = way.ok(client, prompt);
        assertFull(client, decision, policy);
        assertThat(decision.attempts()).hasSize(1);
        if (holder != null) {
          assertThat(chosen(decision)).isEqualTo(holder);
        }
        assertFinished(client, RouterListener.Outcome.COMPLETED);
      }
      case CANCEL -> {
        fleet.engines().forEach(FakeEngine::pause);
        Runnable cancel = way.begin(client, prompt);
        await().until(() -> fleet.stats().waiting() + fleet.stats().running() == 1);
        cancel.run();
        await().until(() -> fleet.stats().waiting() + fleet.stats().running() == 0);
        fleet.engines().forEach(FakeEngine::resume);
        assertFinished(client, RouterListener.Outcome.CANCELLED);
      }
      case FAULT -> {
        // Every worker fails its next request once: each attempt but the last one fails.
        client.fleet.firstAsked().forEach(engine -> engine.faults().add("503:count=1"));
        RouteDecision decision = way.ok(client, prompt);
        assertFull(client, decision, policy);
        assertThat(decision.attempts().size()).isGreaterThan(1);
        assertThat(decision.attempts().get(0).status()).isEqualTo(503);
        if (holder != null) {
          assertThat(decision.attempts().get(0).worker()).isEqualTo(holder);
        }
        assertFinished(client, RouterListener.Outcome.COMPLETED);
      }
    }
  }

  private static String prompt(String policy) {
    return "how warm is the path that " + policy + " takes through the matrix, and back again";
  }

  private static boolean located(String policy, MatrixFleet fleet) {
    return policy.equals("umbp") && fleet.exact();
  }

  /** Sends the prompt to the last worker, which tells the master; null where nobody asks it. */
  private static @Nullable String warmed(String policy, MatrixFleet fleet, String prompt) {
    if (!located(policy, fleet)) {
      return null;
    }
    String holder = fleet.addresses().get(MatrixFleet.WORKERS - 1);
    try (MatrixClient other = new MatrixClient("pin", fleet, tokenizer, null, null, DEAF)) {
      int blocks = other.sendTo(holder, prompt).prompt().blocks();
      await().until(() -> master.hashes() >= blocks);
    }
    return holder;
  }

  /** How the prompt was read, and that the engine counted what the client did. */
  private void assertRead(MatrixClient client, MatrixWay way, Outcome outcome) {
    RouterListener.RequestEvent event = finished.element();
    RouteDecision.PromptSummary prompt = event.decision().prompt();
    if (!client.fleet.exact()) {
      assertThat(prompt.exactness()).isEqualTo("estimated");
      assertThat(prompt.blocks()).isZero();
      assertThat(client.watched.threads()).isEmpty();
      return;
    }
    assertThat(prompt.exactness()).isEqualTo("exact");
    assertThat(prompt.blocks()).isPositive().isEqualTo(prompt.tokens() / MatrixFleet.BLOCK);
    if (outcome != Outcome.CANCEL) {
      assertThat(event.usage().promptTokens()).isEqualTo(prompt.tokens());
    }
    assertThat(client.watched.threads())
        .isNotEmpty()
        .allMatch(thread -> thread.startsWith(PROMPT_THREAD) == way.apart(outcome));
  }

  /** What the master said, and that it decided. */
  private void assertLocated(@Nullable String holder) {
    RouteDecision decision = finished.element().decision();
    if (holder == null) {
      assertThat(decision.lookup()).isNull();
      return;
    }
    LookupInfo lookup = Objects.requireNonNull(decision.lookup());
    assertThat(lookup.outcome()).as(lookup.detail()).isEqualTo("found");
    assertThat(lookup.ignoredNodes()).isZero();
    assertThat(lookup.matches()).hasSize(1);
    assertThat(Objects.requireNonNull(lookup.match(holder, null)).blocks()).isPositive();
    assertThat(decision.candidates())
        .filteredOn(candidate -> candidate.worker().equals(holder))
        .allMatch(candidate -> candidate.matchedTokens() > 0);
  }

  static List<Arguments> policiesAndFleets() {
    List<Arguments> arguments = new ArrayList<>();
    for (String policy : policies()) {
      for (MatrixFleet fleet : MatrixFleet.values()) {
        if (!fleet.pairs()) { // whose workers are not asked one by one
          arguments.add(Arguments.of(policy, fleet));
        }
      }
    }
    return arguments;
  }

  @ParameterizedTest
  @MethodSource("policiesAndFleets")
  void choosesTheSameWhicheverWayItIsSent(String policy, MatrixFleet fleet) throws Exception {
    settle(fleet);
    List<String> chosen = new ArrayList<>();
    for (MatrixWay way : ways(fleet)) {
      heal(fleet);
      String holder = warmed(policy, fleet, prompt(policy));
      try (MatrixClient client = client(policy, fleet, null)) {
        RouteDecision decision = way.ok(client, prompt(policy));
        chosen.add(chosen(decision));
        if (holder != null) {
          assertThat(decision.chosen().worker()).isEqualTo(holder);
          assertThat(decision.chosen().step()).isEqualTo("umbp");
        }
        assertNoLease(client);
      }
    }
    assertThat(chosen).as(policy).containsOnly(chosen.get(0));
  }

  /** Engines tell of their last prompt's cache hits, by which policies go: it is to be none. */
  private static void settle(MatrixFleet fleet) {
    try (MatrixClient client = new MatrixClient("pin", fleet, tokenizer, null, null, DEAF)) {
      for (String worker : fleet.addresses()) {
        client.sendTo(worker, "nothing that was said before");
      }
    }
  }

  private static List<MatrixWay> ways(MatrixFleet fleet) {
    return List.of(MatrixWay.values()).stream().filter(way -> way.reaches(fleet)).toList();
  }

  static List<Arguments> pinsAndFleets() {
    List<Arguments> arguments = new ArrayList<>();
    for (String policy : List.of("pin", "pin>linear_cost>shortest_queue")) {
      for (MatrixFleet fleet : MatrixFleet.values()) {
        if (!fleet.pairs()) { // whose workers are not asked one by one
          arguments.add(Arguments.of(policy, fleet));
        }
      }
    }
    return arguments;
  }

  @ParameterizedTest
  @MethodSource("pinsAndFleets")
  void followsAPinWhicheverWayItIsSent(String policy, MatrixFleet fleet) throws Exception {
    String last = fleet.addresses().get(MatrixFleet.WORKERS - 1);
    for (MatrixWay way : ways(fleet)) {
      try (MatrixClient client = client(policy, fleet, last)) {
        assertThat(chosen(way.ok(client, "pinned"))).isEqualTo(last);
      }
    }
  }

  private MatrixClient client(String policy, MatrixFleet fleet, @Nullable String pin) {
    finished.clear();
    used = fleet;
    return new MatrixClient(
        policy,
        fleet,
        tokenizer,
        pin,
        located(policy, fleet) ? master : null,
        new RouterListener() {
          @Override
          public void onFinished(RequestEvent event) {
            finished.add(event);
          }
        });
  }

  private static String chosen(RouteDecision decision) {
    return decision.chosen().worker();
  }

  private static void assertFull(MatrixClient client, RouteDecision decision, String policy) {
    assertThat(decision.policy()).contains(policy);
    assertThat(decision.topologyVersion()).isPositive();
    assertThat(decision.prompt().bytes()).isPositive();
    assertThat(decision.prompt().tokens()).isPositive();
    assertThat(decision.chosen()).isNotNull();
    assertThat(client.fleet.addresses()).contains(decision.chosen().worker());
    assertThat(decision.chosen().step()).isNotBlank();
    assertThat(decision.attempts()).isNotEmpty();
  }

  private void assertFinished(MatrixClient client, RouterListener.Outcome outcome) {
    await().until(() -> finished.size() == 1);
    assertThat(finished.peek().outcome()).as(client.errors.toString()).isEqualTo(outcome);
  }

  private static void assertNoLease(MatrixClient client) {
    await()
        .untilAsserted(
            () -> {
              assertThat(client.router.stats().inFlight()).isZero();
              assertThat(client.router.stats().waiting()).isZero();
              assertThat(client.router.stats().pd().liveSessions()).isZero();
              assertThat(client.fleet.fleet().engines()).allMatch(engine -> engine.handoffs() == 0);
              client
                  .router
                  .workers()
                  .list()
                  .forEach(
                      worker ->
                          worker
                              .ranks()
                              .forEach(
                                  rank -> {
                                    assertThat(rank.inFlight()).isZero();
                                    assertThat(rank.prefillTokens()).isZero();
                                  }));
            });
  }
}
