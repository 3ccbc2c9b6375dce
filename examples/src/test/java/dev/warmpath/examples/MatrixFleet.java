package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.RouterClient;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.fake.umbp.FakeUmbpMaster;
import dev.warmpath.fake.umbp.UmbpReporting;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.grpc.umbp.UmbpClient;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.NodeIdMap;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The fake workers of the matrix, and what clients know of prompts for them: by their text over
 * HTTP, by their tokens over HTTP and over each of the engines' gRPC services. All but the first
 * tell a UMBP master of their caches.
 */
enum MatrixFleet {
  ESTIMATED(EngineKind.SGLANG, null, ""),
  PAIRS(EngineKind.VLLM, null, ""),
  EXACT(EngineKind.VLLM, null, ";hash=vllm-sha256"),
  SGLANG_SCHEDULER(EngineKind.SGLANG, GrpcApi.SGLANG_SCHEDULER, ""),
  SGLANG_RUNTIME(EngineKind.SGLANG, GrpcApi.SGLANG_RUNTIME, ""),
  VLLM_ENGINE(EngineKind.VLLM, GrpcApi.VLLM_ENGINE, ";hash=vllm-sha256"),
  VLLM_INFERENCE(EngineKind.VLLM, GrpcApi.VLLM_INFERENCE, ";hash=vllm-sha256");

  static final int WORKERS = 3;
  static final int BLOCK = 16;
  static final String MODEL = "matrix-model";
  private static final Duration SOON = Duration.ofSeconds(30);

  private final EngineKind kind;
  private final @Nullable GrpcApi api;

  /** What a client has to be told of each worker. */
  private final String labels;

  @SuppressWarnings("ImmutableEnumChecker") // running while the matrix is
  private @Nullable FakeFleet running;

  MatrixFleet(EngineKind kind, @Nullable GrpcApi api, String labels) {
    this.kind = kind;
    this.api = api;
    this.labels = labels;
  }

  /** Starts the workers. */
  void start(ModelFiles files, FakeUmbpMaster master) {
    running =
        FakeFleet.start(
            pairs() ? "2p2d" : Integer.toString(WORKERS),
            builder -> {
              builder.model(MODEL).kind(kind).timing(LatencyModel.instant()).speedup(1_000);
              return exact() ? exact(builder, files, master) : builder;
            });
  }

  private FakeEngineBuilder exact(
      FakeEngineBuilder builder, ModelFiles files, FakeUmbpMaster master) {
    builder
        .blockSize(BLOCK)
        .promptEncoder(new ModelPromptEncoder(files, kind))
        .umbp(UmbpReporting.to(master.address()));
    return api == null ? builder : builder.grpcPort(0).grpcApi(api);
  }

  /** Ends the workers. */
  void stop() {
    if (running != null) {
      running.close();
      running = null;
    }
  }

  FakeFleet fleet() {
    return Objects.requireNonNull(running, "not started");
  }

  /** Whether clients know the prompts' tokens. */
  boolean exact() {
    return this != ESTIMATED && !pairs();
  }

  /** Whether two workers share each request. */
  boolean pairs() {
    return this == PAIRS;
  }

  /** Those whose failure fails an attempt each: of pairs the ones that are asked first. */
  List<FakeEngine> firstAsked() {
    return fleet().engines().stream().filter(engine -> engine.role() != WorkerRole.DECODE).toList();
  }

  boolean overGrpc() {
    return api != null;
  }

  /** The workers' addresses, as clients know them. */
  List<String> addresses() {
    return fleet().engines().stream().map(this::address).toList();
  }

  private String address(FakeEngine engine) {
    return api == null ? engine.url() : Objects.requireNonNull(engine.grpcUrl());
  }

  /** The workers as an operator writes them. */
  List<WorkerSpec> specs() {
    return pairs()
        ? fleet().engines().stream().map(FakeEngine::workerSpec).map(WorkerSpec::parse).toList()
        : addresses().stream().map(address -> WorkerSpec.parse(address + labels)).toList();
  }

  /** Asks a master whose nodes are named as the engines name themselves: by their HTTP address. */
  void ask(RouterClient.Builder builder, FakeUmbpMaster master) {
    NodeIdMap.Builder nodes = NodeIdMap.builder();
    fleet().engines().forEach(engine -> nodes.node(engine.url(), address(engine)));
    builder
        .blockLocator(UmbpClient.to(master.address()))
        // Long, so that a busy machine does not decide what is seen.
        .lookup(LookupSettings.builder().deadline(SOON).nodes(nodes.build()).build());
  }

  /** Waits until all workers are known as well as they can be. */
  void awaitKnown(RouterClient router) {
    assertThat(router.awaitReady(SOON)).isTrue();
    Views.awaitLooked(router, SOON);
  }

  /** Ends faults and pauses, and empties the caches. */
  void heal() {
    for (FakeEngine engine : fleet().engines()) {
      engine.faults().clear();
      engine.resume();
    }
    assertThat(fleet().flushAll()).isTrue();
  }
}
