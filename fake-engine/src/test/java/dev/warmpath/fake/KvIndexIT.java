package dev.warmpath.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.fake.kv.KvEventEncoding;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.BlockMatches;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.index.kv.KvEvents;
import dev.warmpath.index.kv.ZmqKvSubscriber;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Routers' indexes of what fake engines tell over real sockets. */
class KvIndexIT {
  private static final int CLIENT = 16;
  private static final Duration SOON = Duration.ofSeconds(60);

  /** An index that listens to one engine, as a router's does. */
  private static final class Listener implements AutoCloseable {
    private final WorkerRegistry registry = new WorkerRegistry();
    private final BlockIndex index = BlockIndex.builder().build();
    private final BlockMatches matches = new BlockMatches();
    private final KvEvents events;
    private final WorkerId id;

    Listener(FakeEngine engine, dev.warmpath.index.kv.KvEventSettings settings) {
      events = new KvEvents(index, CLIENT, settings, List.of(new ZmqKvSubscriber(settings, false)));
      registry.subscribe(events);
      KvEventEndpoint endpoint = Objects.requireNonNull(engine.kvEvents());
      WorkerSpec.Builder spec =
          WorkerSpec.builder(engine.url())
              .engine(engine.kind())
              .models(List.of("m"))
              .dpSize(endpoint.ranks())
              .label("kv-events", "tcp://*:" + endpoint.port())
              .label("kv-topic", endpoint.topic());
      endpoint.replayPort().ifPresent(port -> spec.label("kv-replay", "tcp://*:" + port));
      WorkerSpec built = spec.build();
      id = built.id();
      registry.add(built);
    }

    Listener(FakeEngine engine) {
      this(engine, dev.warmpath.index.kv.KvEventSettings.DEFAULT);
    }

    WorkerRank rank(int number) {
      return Objects.requireNonNull(registry.current().worker(id)).ranks().get(number);
    }

    int held(BlockHashes prompt, int rank) {
      index.match(prompt, matches);
      return matches.blocks(rank(rank).holderId());
    }

    boolean authoritative(int rank) {
      return index.authoritative(rank(rank).holderId(), prompt(16, 0).namespace());
    }

    KvEventStats.Rank stats(int rank) {
      return events.stats().ranks().get(rank);
    }

    void awaitHeld(BlockHashes prompt, int rank, int blocks) {
      await()
          .atMost(SOON)
          .pollInterval(Duration.ofMillis(10))
          .untilAsserted(() -> assertThat(held(prompt, rank)).isEqualTo(blocks));
    }

    void awaitAuthority(int rank) {
      await().atMost(SOON).pollInterval(Duration.ofMillis(10)).until(() -> authoritative(rank));
    }

    /** Until what is known is as much as the engine has. */
    void awaitResident(FakeEngine engine) {
      await()
          .atMost(SOON)
          .pollInterval(Duration.ofMillis(10))
          .untilAsserted(
              () ->
                  assertThat(
                          events.stats().ranks().stream()
                              .mapToInt(rank -> rank.stream().rank().blocks())
                              .sum())
                      .isEqualTo(engine.stats().cachedBlocks()));
    }

    @Override
    public void close() {
      events.close();
    }
  }

  private static FakeEngineBuilder engine(EngineKind kind, KvEventSettings.Builder events) {
    return FakeEngine.builder()
        .kind(kind)
        .model("m")
        .blockSize(CLIENT)
        .blocks(64)
        .timing(LatencyModel.instant())
        .kvEvents(events.build());
  }

  private static String text(int tokens, int from) {
    return IntStream.range(from, from + tokens)
        .mapToObj(i -> String.format("%04d", i))
        .collect(Collectors.joining());
  }

  private static BlockHashes prompt(int tokens, int from) {
    return prompt(tokens, from, HashParams.builder());
  }

  private static BlockHashes prompt(int tokens, int from, HashParams.Builder keys) {
    HashParams params = keys.model("m").blockSize(CLIENT).build();
    int[] ids = FakeTokenizer.encode(text(tokens, from));
    return HashSchemes.content(params).newChain().append(ids).hashes();
  }

  private static void complete(
      FakeEngine engine, int tokens, int from, String more, String... headers) throws Exception {
    String body = Client.completion(text(tokens, from), ",\"max_tokens\":2" + more);
    Client.Reply reply = new Client(engine).post(Client.COMPLETIONS, body, headers);
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "SGLANG, ARRAYS, true, 16, ''",
    "SGLANG, MAPS, true, 8, kv",
    "SGLANG, MAPS, true, 1, ''",
    "VLLM, ARRAYS, true, 16, kv",
    "VLLM, MAPS, true, 32, ''",
    "VLLM, MAPS, false, 64, ''",
  })
  void anIndexHoldsWhatTheEngineHolds(
      EngineKind kind, KvEventEncoding encoding, boolean integers, int block, String topic)
      throws Exception {
    KvEventSettings.Builder settings =
        KvEventSettings.builder()
            .encoding(encoding)
            .integerHashes(integers)
            .topic(topic)
            .replayPort(0);
    try (FakeEngine engine =
            engine(kind, settings).blockSize(block).blocks(64 * CLIENT / block).start();
        Listener listener = new Listener(engine)) {
      listener.awaitAuthority(0);
      complete(engine, 200, 0, "");
      listener.awaitHeld(prompt(200, 0), 0, 200 / block * block / CLIENT);
      complete(engine, 328, 0, "");
      listener.awaitHeld(prompt(328, 0), 0, 328 / block * block / CLIENT);
      assertThat(listener.held(prompt(200, 5_000), 0)).isZero();
      for (int i = 1; i <= 8; i++) {
        complete(engine, 200, 1_000 * i, "");
      }
      listener.awaitResident(engine);
      listener.awaitHeld(prompt(200, 8_000), 0, 200 / block * block / CLIENT);
      assertThat(listener.held(prompt(328, 0), 0)).as("evicted").isLessThan(12);
      assertThat(listener.stats(0).stream().rank().unplaced()).isZero();
      assertThat(engine.flushCache()).isTrue();
      listener.awaitHeld(prompt(200, 8_000), 0, 0);
      assertThat(listener.authoritative(0)).isTrue();
    }
  }

  @Test
  void atomTellsWithoutNumbersSoThatNothingIsKnownToBeAll() throws Exception {
    try (FakeEngine engine = engine(EngineKind.ATOM, KvEventSettings.builder()).start();
        Listener listener = new Listener(engine)) {
      await().atMost(SOON).until(() -> listener.stats(0).connected());
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                engine.flushCache();
                complete(engine, 40, 0, "");
                assertThat(listener.held(prompt(40, 0), 0)).isEqualTo(2);
              });
      assertThat(listener.authoritative(0)).isFalse();
    }
  }

  @Test
  void ranksAreListenedToEachAtItsOwnPort() throws Exception {
    try (FakeEngine engine =
            engine(EngineKind.SGLANG, KvEventSettings.builder().replayPort(0)).dpSize(3).start();
        Listener listener = new Listener(engine)) {
      for (int rank = 0; rank < 3; rank++) {
        listener.awaitAuthority(rank);
      }
      complete(engine, 64, 0, "", "X-Data-Parallel-Rank", "2");
      listener.awaitHeld(prompt(64, 0), 2, 4);
      assertThat(listener.held(prompt(64, 0), 0)).isZero();
      assertThat(listener.held(prompt(64, 0), 1)).isZero();
    }
  }

  @Test
  void saltedRequestsAreKeptApart() throws Exception {
    try (FakeEngine engine =
            engine(EngineKind.SGLANG, KvEventSettings.builder().replayPort(0))
                .version("0.5.20")
                .start();
        Listener listener = new Listener(engine)) {
      listener.awaitAuthority(0);
      complete(engine, 64, 0, ",\"cache_salt\":\"secret\"");
      listener.awaitHeld(prompt(64, 0, HashParams.builder().cacheSalt("secret")), 0, 4);
      assertThat(listener.held(prompt(64, 0), 0)).isZero();
    }
  }

  @Test
  void whoJoinsLateIsToldWhatWasMissed() throws Exception {
    try (FakeEngine engine =
        engine(EngineKind.VLLM, KvEventSettings.builder().replayPort(0)).start()) {
      complete(engine, 64, 0, "");
      complete(engine, 64, 1_000, "");
      try (Listener listener = new Listener(engine)) {
        listener.awaitHeld(prompt(64, 0), 0, 4);
        listener.awaitHeld(prompt(64, 1_000), 0, 4);
        assertThat(listener.authoritative(0)).isTrue();
        assertThat(listener.stats(0).stream().losses()).isZero();
      }
    }
  }

  @Test
  void whoJoinsTooLateKnowsThatItDoesNotKnowAll() throws Exception {
    try (FakeEngine engine =
        engine(EngineKind.VLLM, KvEventSettings.builder().replayPort(0).keptBatches(1)).start()) {
      complete(engine, 64, 0, "");
      complete(engine, 64, 1_000, "");
      complete(engine, 64, 2_000, "");
      try (Listener listener = new Listener(engine)) {
        await().atMost(SOON).until(() -> listener.stats(0).stream().losses() == 1);
        complete(engine, 80, 3_000, "");
        listener.awaitHeld(prompt(80, 3_000), 0, 5);
        assertThat(listener.held(prompt(64, 0), 0)).isZero();
        assertThat(listener.authoritative(0)).isFalse();
        assertThat(engine.flushCache()).isTrue();
        listener.awaitAuthority(0);
      }
    }
  }

  @Test
  void aRestartedEngineBeginsAnew() throws Exception {
    try (FakeEngine engine =
            engine(EngineKind.SGLANG, KvEventSettings.builder().replayPort(0)).start();
        Listener listener = new Listener(engine)) {
      listener.awaitAuthority(0);
      complete(engine, 64, 0, "");
      listener.awaitHeld(prompt(64, 0), 0, 4);
      engine.restart();
      complete(engine, 48, 1_000, "");
      listener.awaitHeld(prompt(48, 1_000), 0, 3);
      assertThat(listener.held(prompt(64, 0), 0)).isZero();
      assertThat(listener.authoritative(0)).isTrue();

      long before = listener.rank(0).holderId();
      assertThat(listener.registry.restarted(listener.id, listener.rank(0).worker().epoch()))
          .isTrue();
      assertThat(listener.rank(0).holderId()).isNotEqualTo(before);
      assertThat(listener.held(prompt(48, 1_000), 0)).as("told by the new life").isEqualTo(3);
      assertThat(listener.authoritative(0)).isTrue();
    }
  }

  @Test
  void anEngineThatCannotBeHeardForTooLongIsNoLongerBelieved() throws Exception {
    dev.warmpath.index.kv.KvEventSettings settings =
        dev.warmpath.index.kv.KvEventSettings.DEFAULT.withSilence(Duration.ofMillis(300));
    FakeEngine engine = engine(EngineKind.SGLANG, KvEventSettings.builder().replayPort(0)).start();
    try (Listener listener = new Listener(engine, settings)) {
      listener.awaitAuthority(0);
      engine.close();
      await().atMost(SOON).until(() -> !listener.authoritative(0));
      assertThat(listener.stats(0).connected()).isFalse();
    } finally {
      engine.close();
    }
  }
}
