package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.EngineKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many KV events over real sockets, from an engine whose batches get lost and which restarts now
 * and then: in the end the client knows the blocks that the engine has. {@code
 * -Dwarmpath.kv-soak=1000000} says how many events; by default few, as a million take minutes.
 */
@Tag("long")
class KvEventSoakIT {
  private static final long EVENTS = Long.getLong("warmpath.kv-soak", 10_000);
  private static final String MODEL = "m";
  private static final Duration SOON = Duration.ofSeconds(60);

  @TempDir private static Path folder;
  private final SplittableRandom random = new SplittableRandom(11);

  /** How events travel. */
  enum Wire {
    ZERO_MQ,
    GRPC
  }

  @ParameterizedTest
  @EnumSource
  void theClientEndsWithWhatTheEngineHolds(Wire wire) {
    ModelFiles files = ModelFiles.of(SmallModel.writeTo(folder.resolve(wire.name())));
    try (FakeEngine engine =
            FakeEngine.builder()
                .kind(EngineKind.SGLANG)
                .model(MODEL)
                .promptEncoder(new ModelPromptEncoder(files, EngineKind.SGLANG))
                .blockSize(1)
                .blocks(1_000)
                .timing(LatencyModel.instant())
                .kvEvents(KvEventSettings.builder().replayPort(0).keptBatches(64).build())
                .grpcPort(0)
                .start();
        RouterClient router = route(files, worker(engine, wire))) {
      await().atMost(SOON).until(() -> rank(router).connected());
      long restarts = 0;
      int sent = 0;
      while (stream(router).events() < EVENTS) {
        int chance = random.nextInt(60);
        if (chance == 0 || ++sent == 20) {
          engine.kill();
          engine.restart();
          restarts++;
        } else if (chance < 4) {
          engine.faults().add(Fault.gap().times(1));
        }
        send(router, 20 + random.nextInt(60), random.nextInt(40));
      }
      engine.faults().clear();
      await().atMost(SOON).until(() -> rank(router).connected());
      // What was lost for good is known again from an empty cache on.
      await().atMost(SOON).until(engine::flushCache);
      await().atMost(SOON).until(() -> stream(router).complete());
      for (int i = 0; i < 20; i++) {
        send(router, 60, i);
      }
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                assertThat(engine.stats().cachedBlocks()).isPositive();
                assertThat(stream(router).rank().blocks()).isEqualTo(engine.stats().cachedBlocks());
              });
      assertThat(stream(router).complete()).isTrue();
      assertThat(stream(router).events()).isGreaterThanOrEqualTo(EVENTS);
      assertThat(stream(router).gaps() + stream(router).losses()).as("gaps").isPositive();
      assertThat(restarts).isPositive();
    }
  }

  private static String worker(FakeEngine engine, Wire wire) {
    if (wire == Wire.GRPC) {
      return Objects.requireNonNull(engine.grpcUrl());
    }
    KvEventEndpoint endpoint = Objects.requireNonNull(engine.kvEvents());
    return engine.url()
        + ";kv-events=tcp://*:"
        + endpoint.port()
        + ";kv-replay=tcp://*:"
        + endpoint.replayPort().orElseThrow();
  }

  private static RouterClient route(ModelFiles files, String worker) {
    RouterClient router =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .transport(GrpcTransport.create())
            .policy(Policies.roundRobin())
            .model(MODEL, files)
            .kvEvents(dev.warmpath.index.kv.KvEventSettings.DEFAULT)
            .worker(worker)
            .seed(5)
            .build();
    assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
    await().atMost(SOON).until(() -> !router.stats().kvEvents().ranks().isEmpty());
    return router;
  }

  private static KvEventStats.Rank rank(RouterClient router) {
    return router.stats().kvEvents().ranks().get(0);
  }

  private static KvStream.Stats stream(RouterClient router) {
    return rank(router).stream();
  }

  /** Sends words from a place on; what an engine that restarts does not answer is left out. */
  private static void send(RouterClient router, int words, int from) {
    String text =
        IntStream.range(0, words)
            .mapToObj(i -> Integer.toString(from * 1_000 + i))
            .collect(Collectors.joining(" "));
    String body =
        "{\"model\":\"m\",\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\""
            + text
            + "\"}]}";
    try {
      assertThat(router.send(RouterRequest.chatCompletions(body)).status()).isEqualTo(200);
    } catch (RouterException e) {
      // It restarts: the next one may come through.
    }
  }
}
