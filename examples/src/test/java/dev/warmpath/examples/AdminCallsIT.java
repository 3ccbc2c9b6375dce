package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.Admin;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.AdminReply.Outcome;
import dev.warmpath.transport.CacheLevel;
import dev.warmpath.transport.PauseMode;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Admin calls to fake engines, which answer as the real ones do. */
class AdminCallsIT {
  private static final String BODY =
      "{\"model\":\"m\",\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\""
          + "word ".repeat(200)
          + "\"}]}";

  private static FakeEngineBuilder engine(EngineKind kind) {
    return FakeEngine.builder()
        .kind(kind)
        .model("m")
        .timing(LatencyModel.instant())
        .healthLatency(Duration.ZERO)
        .disconnectDelay(Duration.ZERO);
  }

  private static RouterClient client(FakeEngine engine) {
    return client(engine, UnaryOperator.identity());
  }

  private static RouterClient client(FakeEngine engine, UnaryOperator<RouterClient.Builder> more) {
    return client(engine.url(), more);
  }

  private static RouterClient client(String url, UnaryOperator<RouterClient.Builder> more) {
    RouterClient client =
        more.apply(
                RouterClient.builder()
                    .transport(OkHttpTransport.create())
                    .transport(GrpcTransport.create())
                    // goes by the client's own index alone
                    .policy(Policies.cacheAware())
                    .worker(url))
            .build();
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    await().until(() -> client.workers().list().get(0).worker().engine() != EngineKind.UNKNOWN);
    return client;
  }

  private static Outcome only(List<Admin.Result> results) {
    assertThat(results).hasSize(1);
    return results.get(0).outcome();
  }

  private static int predicted(RouterClient client) {
    return client.explain(RouterRequest.chatCompletions(BODY)).candidates().get(0).matchedTokens();
  }

  private static CompletableFuture<RouterResponse> held(RouterClient client, FakeEngine engine) {
    CompletableFuture<RouterResponse> held = client.sendAsync(RouterRequest.chatCompletions(BODY));
    await().until(() -> engine.stats().waiting() + engine.stats().running() == 1);
    return held;
  }

  @Test
  void sglangFlushesWhenIdleAndTheIndexFollows() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start();
        RouterClient client = client(engine)) {
      client.send(RouterRequest.chatCompletions(BODY));
      assertThat(predicted(client)).isPositive();
      engine.pause();
      CompletableFuture<RouterResponse> held = held(client, engine);
      assertThat(only(client.admin().everyWorker().flush(CacheLevel.L1))).isEqualTo(Outcome.BUSY);
      assertThat(predicted(client)).isPositive();
      engine.resume();
      held.get(30, TimeUnit.SECONDS);
      await().until(() -> engine.stats().running() == 0);
      assertThat(only(client.admin().worker(engine.url()).flush(CacheLevel.L2)))
          .isEqualTo(Outcome.DONE);
      assertThat(engine.stats().cachedBlocks()).isZero();
      assertThat(predicted(client)).isZero();
      assertThat(only(client.admin().everyWorker().flush(CacheLevel.L3))).isEqualTo(Outcome.DONE);
    }
  }

  @Test
  void vllmNeedsItsDevelopmentMode() {
    try (FakeEngine engine = engine(EngineKind.VLLM).start();
        RouterClient client = client(engine)) {
      client.send(RouterRequest.chatCompletions(BODY));
      Admin admin = client.admin().everyWorker();
      assertThat(only(admin.flush(CacheLevel.L1))).isEqualTo(Outcome.NEEDS_DEV_MODE);
      assertThat(only(admin.abort(List.of("a")))).isEqualTo(Outcome.NEEDS_DEV_MODE);
      assertThat(only(admin.pause(PauseMode.KEEP))).isEqualTo(Outcome.NEEDS_DEV_MODE);
      assertThat(client.workers().list().get(0).worker().state()).isEqualTo(WorkerState.ACTIVE);
      assertThat(predicted(client)).isPositive();
    }
  }

  @Test
  void vllmInDevelopmentModeDoesWhatItIsAsked() throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM).devMode(true).start();
        RouterClient client = client(engine)) {
      client.send(RouterRequest.chatCompletions(BODY));
      Admin admin = client.admin().everyWorker();
      assertThat(only(admin.flush(CacheLevel.L1))).isEqualTo(Outcome.ACCEPTED);
      assertThat(engine.stats().cachedBlocks()).isZero();
      assertThat(predicted(client)).isZero();
      assertThat(only(admin.flush(CacheLevel.L2))).isEqualTo(Outcome.UNSUPPORTED);
      assertThat(only(admin.pause(PauseMode.RETRACT))).isEqualTo(Outcome.UNSUPPORTED);
      engine.pause();
      CompletableFuture<RouterResponse> held = held(client, engine);
      assertThat(only(admin.abort(List.of("", " ")))).isEqualTo(Outcome.NOTHING);
      assertThat(only(admin.abort(List.of("nobody")))).isEqualTo(Outcome.DONE);
      assertThat(held).isNotDone();
      assertThat(only(admin.abortAll())).isEqualTo(Outcome.DONE);
      held.handle((response, error) -> true).get(30, TimeUnit.SECONDS);
      assertThat(engine.stats().aborted()).isEqualTo(1);
      engine.resume();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void routingStopsBeforeAnEngineIsPausedAndBeginsAfterItResumed(EngineKind kind) {
    try (FakeEngine engine = engine(kind).devMode(true).start();
        RouterClient client = client(engine)) {
      Admin admin = client.admin().worker(engine.url());
      assertThat(only(admin.pause(PauseMode.KEEP))).isEqualTo(Outcome.DONE);
      assertThat(client.workers().list().get(0).worker().state()).isEqualTo(WorkerState.DRAINING);
      assertThat(only(client.admin().worker(engine.url()).resume())).isEqualTo(Outcome.DONE);
      assertThat(client.workers().list().get(0).worker().state()).isEqualTo(WorkerState.ACTIVE);
      assertThat(client.send(RouterRequest.chatCompletions(BODY)).status()).isEqualTo(200);
      assertThat(only(admin.startProfile())).isEqualTo(Outcome.DONE);
      assertThat(only(admin.stopProfile())).isEqualTo(Outcome.DONE);
    }
  }

  @Test
  void atomSaysThatItHasNoSuchCalls() {
    try (FakeEngine engine = engine(EngineKind.ATOM).start();
        RouterClient client = client(engine)) {
      Admin admin = client.admin().everyWorker();
      for (CacheLevel level : CacheLevel.values()) {
        assertThat(only(admin.flush(level))).isEqualTo(Outcome.UNSUPPORTED);
      }
      assertThat(only(admin.abortAll())).isEqualTo(Outcome.UNSUPPORTED);
      assertThat(only(admin.pause(PauseMode.ABORT))).isEqualTo(Outcome.UNSUPPORTED);
      assertThat(client.workers().list().get(0).worker().state()).isEqualTo(WorkerState.ACTIVE);
      assertThat(only(admin.startProfile())).isEqualTo(Outcome.DONE);
    }
  }

  @Test
  void theAdminKeyIsAskedForAndUsed() {
    try (FakeEngine engine =
        engine(EngineKind.SGLANG).apiKey("planted-key").adminKey("planted-admin").start()) {
      try (RouterClient client = client(engine, more -> more.apiKey(Secret.of("planted-key")))) {
        List<Admin.Result> results = client.admin().everyWorker().flush(CacheLevel.L1);
        assertThat(only(results)).isEqualTo(Outcome.NEEDS_ADMIN_KEY);
        assertThat(results.toString()).doesNotContain("planted");
      }
      try (RouterClient client =
          client(
              engine,
              more -> more.apiKey(Secret.of("planted-key")).adminKey(Secret.of("planted-admin")))) {
        assertThat(only(client.admin().everyWorker().flush(CacheLevel.L1))).isEqualTo(Outcome.DONE);
      }
    }
  }

  @Test
  void onlyWorkersOfTheRegistryAreCalled() {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start();
        RouterClient client = client(engine)) {
      assertThatThrownBy(() -> client.admin().worker("http://127.0.0.1:9"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("not a worker");
      assertThat(client.admin().flush(CacheLevel.L1)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(GrpcApi.class)
  void gRpcServicesDoWhatTheyHaveCallsFor(GrpcApi api) {
    try (FakeEngine engine = engine(api.engine()).grpcPort(0).grpcApi(api).start();
        RouterClient client =
            client(Objects.requireNonNull(engine.grpcUrl()), UnaryOperator.identity())) {
      Admin admin = client.admin().everyWorker();
      boolean flushes = api != GrpcApi.VLLM_INFERENCE;
      assertThat(only(admin.flush(CacheLevel.L1)))
          .isEqualTo(flushes ? Outcome.DONE : Outcome.UNSUPPORTED);
      assertThat(only(admin.flush(CacheLevel.L3))).isEqualTo(Outcome.UNSUPPORTED);
      assertThat(only(admin.abort(List.of("nobody")))).isEqualTo(Outcome.ACCEPTED);
      assertThat(only(admin.abort(List.of()))).isEqualTo(Outcome.NOTHING);
      boolean pauses = api == GrpcApi.SGLANG_RUNTIME || api == GrpcApi.VLLM_INFERENCE;
      assertThat(only(admin.pause(PauseMode.KEEP)))
          .isEqualTo(pauses ? Outcome.DONE : Outcome.UNSUPPORTED);
      assertThat(client.workers().list().get(0).worker().state())
          .isEqualTo(pauses ? WorkerState.DRAINING : WorkerState.ACTIVE);
      assertThat(only(admin.resume())).isEqualTo(pauses ? Outcome.DONE : Outcome.UNSUPPORTED);
      assertThat(client.workers().list().get(0).worker().state()).isEqualTo(WorkerState.ACTIVE);
      assertThat(only(admin.startProfile()))
          .isEqualTo(api.engine() == EngineKind.SGLANG ? Outcome.DONE : Outcome.UNSUPPORTED);
    }
  }

  @Test
  void commandsTellEachWorkersTruth() {
    try (FakeEngine sglang = engine(EngineKind.SGLANG).start();
        FakeEngine vllm = engine(EngineKind.VLLM).start()) {
      Run clear =
          Run.of(
              "cache",
              "clear",
              "--level",
              "l1",
              "--worker",
              sglang.url() + "," + vllm.url(),
              "--json");
      assertThat(clear.exitCode()).as(clear.err()).isEqualTo(1);
      assertThat(clear.json().path("results").findValuesAsText("outcome"))
          .containsExactly("done", "needs_dev_mode");
      assertThat(clear.json().path("results").findValuesAsText("level"))
          .containsExactly("L1", "L1");
      Run pause = Run.of("pause", "--worker", sglang.url());
      assertThat(pause.exitCode()).as(pause.err()).isZero();
      assertThat(pause.out()).contains(sglang.url(), "done");
      Run resume = Run.of("resume", "--worker", sglang.url());
      assertThat(resume.exitCode()).as(resume.err()).isZero();
      assertThat(Run.of("profile", "start", "--worker", sglang.url()).exitCode()).isZero();
      assertThat(Run.of("abort", "--worker", sglang.url(), "--rid", "a").exitCode()).isZero();
      assertThat(Run.of("abort", "--worker", sglang.url()).exitCode()).isEqualTo(2);
      assertThat(Run.of("abort", "--all").exitCode()).isEqualTo(2);
      assertThat(Run.of("cache", "clear", "--level", "L1").exitCode()).isEqualTo(2);
      assertThat(Run.of("profile", "pause", "--worker", sglang.url()).exitCode()).isEqualTo(2);
    }
  }

  @Test
  void aConfigurationNamesTheWorkersAndFlagsWin(@TempDir Path dir) throws IOException {
    try (FakeEngine first = engine(EngineKind.SGLANG).start();
        FakeEngine second = engine(EngineKind.SGLANG).start()) {
      Path file = dir.resolve("router.yaml");
      Files.writeString(
          file,
          "workers:\n  - " + first.url() + "\n  - " + second.url() + "\npolicy: round_robin\n");
      Run status = Run.of("status", "--config", file.toString(), "--json");
      assertThat(status.exitCode()).as(status.err()).isZero();
      assertThat(status.json().path("policy").asText()).isEqualTo("round_robin");
      assertThat(status.json().path("configuration").path("source").asText())
          .isEqualTo(file.toString());
      assertThat(status.json().path("workers")).hasSize(2);
      assertThat(status.json().path("readiness").path("ready").asBoolean()).isTrue();
      Run one = Run.of("status", "--config", file.toString(), "--worker", first.url(), "--json");
      assertThat(one.json().path("workers")).hasSize(1);
      assertThat(one.json().path("policy").asText()).isEqualTo("round_robin");
      Run all = Run.of("cache", "clear", "--level", "L1", "--config", file.toString(), "--all");
      assertThat(all.exitCode()).as(all.err() + all.out()).isZero();
      assertThat(all.out()).contains(first.url(), second.url());
      Files.writeString(file, "wrokers: []");
      Run wrong = Run.of("status", "--config", file.toString());
      assertThat(wrong.exitCode()).isEqualTo(2);
      assertThat(wrong.err()).contains("did you mean workers");
    }
  }
}
