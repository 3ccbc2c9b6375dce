package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.RouterClient;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.load.LoadGenerator;
import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.MooncakeTrace;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.load.Workloads;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Load through real sockets: nothing is lost, and policies that know prefixes find more of them.
 */
class LoadIT {
  private static final double SPEEDUP = 20;

  /** Chats that are under way together outgrow one of these caches, not all four. */
  private static final int SMALL = 768;

  /** Room for the longest prompt of the trace. */
  private static final int LARGE = 16_384;

  private static FakeFleet fleet(int blocks) {
    return FakeFleet.start("4", builder -> builder.model("m").blocks(blocks).speedup(SPEEDUP));
  }

  private static LoadResult run(
      FakeFleet fleet,
      String policy,
      List<TraceSession> sessions,
      int concurrency,
      boolean stream,
      LongConsumer progress)
      throws InterruptedException {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .policy(Policies.parse(policy))
            .seed(3);
    fleet.urls().forEach(builder::worker);
    try (RouterClient router = builder.build()) {
      assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
      LoadSettings settings =
          new LoadSettings(
              "m",
              concurrency,
              SPEEDUP,
              stream,
              Integer.MAX_VALUE,
              16,
              false,
              Duration.ofMinutes(2),
              3);
      LoadResult result =
          new LoadGenerator(List.of(router), settings)
              .run(policy, sessions, fleet.urls(), progress);
      assertThat(router.stats().inFlight()).isZero();
      return result;
    }
  }

  private static List<TraceSession> chats() {
    return Workloads.draw(
        "closed",
        Map.of("sessions", "40", "turns", "4", "think", "0", "prompts", "8", "zipf", "0.5"),
        5);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void countsWhatEnginesCount(boolean stream) throws Exception {
    try (FakeFleet fleet = fleet(SMALL)) {
      List<TraceSession> sessions = chats();
      LoadResult result = run(fleet, "cache_aware", sessions, 8, stream, ended -> {});
      assertThat(result.failed()).isZero();
      assertThat(result.requests())
          .isEqualTo(sessions.stream().mapToLong(session -> session.turns().size()).sum());
      assertThat(result.cachedTokens()).isEqualTo(fleet.stats().cachedTokens());
      assertThat(result.perWorker().values().stream().mapToLong(n -> n).sum())
          .isEqualTo(result.requests());
      assertThat(result.ttft().count()).isEqualTo(stream ? result.requests() : 0);
    }
  }

  @Test
  void losesNoWholeAnswerWhenAWorkerIsKilled() throws Exception {
    try (FakeFleet fleet = fleet(SMALL)) {
      AtomicBoolean killed = new AtomicBoolean();
      LoadResult result =
          run(
              fleet,
              "linear_cost",
              chats(),
              12,
              false,
              ended -> {
                if (ended >= 20 && killed.compareAndSet(false, true)) {
                  fleet.kill(1);
                }
              });
      assertThat(killed).isTrue();
      assertThat(result.errors()).isEmpty();
      assertThat(result.failed()).isZero();
    }
  }

  @Test
  void replaysATrace() throws Exception {
    try (FakeFleet fleet = fleet(LARGE)) {
      List<TraceSession> rows =
          Workloads.trace(MooncakeTrace.sample().subList(0, 40), Map.of("speedup", "4"), 1);
      for (String policy : List.of("round_robin", "cache_aware", "linear_cost")) {
        LoadResult result = run(fleet, policy, rows, 0, true, ended -> {});
        assertThat(result.errors()).as(policy).isEmpty();
        assertThat(result.requests()).isEqualTo(40);
      }
    }
  }

  @Test
  void findsMorePrefixesThanRoundRobinWhereChatsOutgrowOneCache() throws Exception {
    try (FakeFleet fleet = fleet(SMALL)) {
      double blind = run(fleet, "round_robin", chats(), 12, false, ended -> {}).hitRate();
      assertThat(fleet.flushAll()).isTrue();
      double aware = run(fleet, "cache_aware", chats(), 12, false, ended -> {}).hitRate();
      assertThat(aware).isGreaterThan(blind);
    }
  }
}
