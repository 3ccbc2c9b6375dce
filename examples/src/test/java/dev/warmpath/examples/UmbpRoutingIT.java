package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.RouterClient;
import dev.warmpath.api.LookupInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.fake.umbp.FakeUmbpMaster;
import dev.warmpath.fake.umbp.UmbpReporting;
import dev.warmpath.grpc.umbp.UmbpClient;
import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.index.BlockQuery;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Engines that tell a master of their caches, and clients that ask it: over real HTTP and gRPC,
 * from the tokens in an engine's cache to another client's choice.
 */
@Timeout(60)
@Tag("long")
class UmbpRoutingIT {
  private static final String MODEL = "m";
  private static final String PROMPT = "the long way home goes on and on ".repeat(20);

  /** Long, so that a busy machine does not decide what a test sees. */
  private static final LookupSettings PATIENT =
      LookupSettings.builder().deadline(Duration.ofSeconds(20)).build();

  @TempDir private static Path folder;
  private static ModelFiles files;

  private final FakeUmbpMaster master = FakeUmbpMaster.start();
  private final List<AutoCloseable> open = new ArrayList<>();

  private static synchronized ModelFiles files() {
    if (files == null) {
      files = ModelFiles.of(SmallModel.writeTo(folder.resolve(MODEL)));
    }
    return files;
  }

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    master.close();
  }

  private <T extends AutoCloseable> T opened(T resource) {
    open.add(resource);
    return resource;
  }

  private FakeFleet fleet(EngineKind kind, int ranks) {
    FakeFleet fleet =
        opened(
            FakeFleet.start(
                "3",
                builder ->
                    builder
                        .kind(kind)
                        .model(MODEL)
                        .dpSize(ranks)
                        .blockSize(16)
                        .timing(LatencyModel.instant())
                        .speedup(1_000)
                        .promptEncoder(new ModelPromptEncoder(files(), kind))
                        .umbp(UmbpReporting.to(master.address()))));
    await().until(() -> master.nodes().size() == 3 * ranks);
    return fleet;
  }

  /** A client that has sent nothing yet. */
  private RouterClient client(FakeFleet fleet, LookupSettings lookup, String hash) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .policy(Policies.umbp())
            .model(MODEL, files())
            .blockLocator(UmbpClient.to(master.address()))
            .lookup(lookup)
            .seed(5);
    fleet.urls().forEach(url -> builder.worker(WorkerSpec.parse(url + hash)));
    RouterClient client = opened(builder.build());
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    Views.awaitLooked(client, Duration.ofSeconds(30));
    return client;
  }

  private static String body(String more) {
    return "{\"model\":\""
        + MODEL
        + "\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\""
        + PROMPT
        + more
        + "\"}]}";
  }

  private static RouterRequest chat(String more) {
    return RouterRequest.chatCompletions(body(more));
  }

  private static LookupInfo lookup(RouteDecision decision) {
    return Objects.requireNonNull(decision.lookup());
  }

  /** Sends a prompt to a worker and waits until the master knows of it. */
  private void warm(RouterClient client, String worker) {
    int before = master.hashes();
    RouterRequest request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS).body(body("")).pin(worker).build();
    int blocks = client.send(request).decision().prompt().blocks();
    await().until(() -> master.hashes() >= before + blocks);
  }

  @ParameterizedTest
  @CsvSource({"SGLANG, ''", "VLLM, ;hash=vllm-sha256", "ATOM, ;block=16"})
  void anotherClientGoesWhereTheBlocksAre(EngineKind kind, String hash) throws Exception {
    FakeFleet fleet = fleet(kind, 1);
    for (int i = 2; i >= 0; i--) {
      assertThat(fleet.flushAll()).isTrue();
      await().until(() -> master.hashes() == 0);
      String holder = fleet.urls().get(i);
      warm(client(fleet, PATIENT, hash), holder);
      RouterClient other = client(fleet, PATIENT, hash);
      RouteDecision decision = other.send(chat(" and then")).decision();
      assertThat(decision.chosen().worker()).isEqualTo(holder);
      assertThat(decision.chosen().step()).isEqualTo("umbp");
      LookupInfo.Match match = lookup(decision).match(holder, null);
      assertThat(match.blocks()).isBetween(5, decision.prompt().blocks());
      assertThat(match.tiers()).containsOnlyKeys("hbm");
      assertThat(decision.chosen().matchedTokens()).isEqualTo(match.tokens());
      assertThat(lookup(decision).ignoredNodes()).isZero();
    }
  }

  @Test
  void ranksAreNodesOfTheirOwn() {
    FakeFleet fleet = fleet(EngineKind.SGLANG, 2);
    String holder = fleet.urls().get(1);
    warm(client(fleet, PATIENT, ""), holder + "#1");
    RouteDecision decision = client(fleet, PATIENT, "").explain(chat(""));
    assertThat(decision.chosen().worker()).isEqualTo(holder);
    assertThat(decision.chosen().rank()).isEqualTo(1);
    assertThat(lookup(decision).matches()).hasSize(1);
  }

  @Test
  void blocksThatTheEngineDropsAreForgotten() {
    FakeFleet fleet = fleet(EngineKind.SGLANG, 1);
    RouterClient client = client(fleet, PATIENT, "");
    warm(client, fleet.urls().get(0));
    assertThat(lookup(client.explain(chat(""))).outcome()).isEqualTo("found");
    assertThat(fleet.engine(0).flushCache()).isTrue();
    await().until(() -> master.hashes() == 0);
    assertThat(lookup(client.explain(chat(""))).outcome()).isEqualTo("empty");
  }

  @Test
  void hitsAreCountedOnceARequestAndNeverByLooking() {
    FakeFleet fleet = fleet(EngineKind.SGLANG, 1);
    RouterClient client = client(fleet, PATIENT, "");
    warm(client, fleet.urls().get(0));
    String key = firstKey(client);
    assertThat(master.hits(key)).isZero();
    client.explain(chat(""));
    assertThat(master.hits(key)).isZero();
    fleet.engine(0).faults().add("503:count=1");
    assertThat(client.send(chat("")).decision().attempts()).hasSize(2);
    assertThat(master.hits(key)).isEqualTo(1);
  }

  /** The key of the prompt's first block, as a client makes it. */
  private String firstKey(RouterClient client) {
    List<String> keys = new ArrayList<>();
    BlockLocator reader =
        new BlockLocator() {
          @Override
          public String name() {
            return "reader";
          }

          @Override
          public CompletableFuture<BlockAnswer> locate(BlockQuery query) {
            keys.add(query.key(0));
            return CompletableFuture.completedFuture(
                new BlockAnswer(List.of(), query.blocks(), null));
          }

          @Override
          public void close() {}
        };
    RouterClient watching =
        opened(
            RouterClient.builder()
                .transport(OkHttpTransport.create())
                .model(MODEL, files())
                .blockLocator(reader)
                .worker(client.workers().list().get(0).worker().id().value())
                .build());
    Views.awaitLooked(watching, Duration.ofSeconds(30));
    assertThat(lookup(watching.explain(chat(""))).outcome()).isEqualTo("empty");
    return keys.get(0);
  }

  @Test
  void aMasterInTroubleCostsNoRequestAndTheDecisionSaysWhy() {
    FakeFleet fleet = fleet(EngineKind.SGLANG, 1);
    String holder = fleet.urls().get(2);
    warm(client(fleet, PATIENT, ""), holder);

    master.lie(true);
    RouteDecision lied = client(fleet, PATIENT, "").send(chat("")).decision();
    assertThat(lied.chosen().worker()).isEqualTo(holder);
    assertThat(lookup(lied).ignoredNodes()).isEqualTo(1);
    master.lie(false);

    LookupSettings hasty = LookupSettings.builder().deadline(Duration.ofMillis(50)).build();
    RouterClient client = client(fleet, hasty, "");
    master.hang(true);
    for (int i = 0; i < 6; i++) {
      RouteDecision decision = client.send(chat("")).decision();
      assertThat(lookup(decision).outcome()).isEqualTo("failed");
      assertThat(lookup(decision).detail()).containsAnyOf("deadline", "breaker open");
      if (i > 0) { // what is new to the client's own index, load alone decides
        assertThat(decision.chosen().step()).isEqualTo("cache_aware");
      }
    }
    assertThat(lookup(client.explain(chat(""))).detail()).isEqualTo("breaker open");
    master.hang(false);
    await().until(() -> lookup(client.explain(chat(""))).outcome().equals("found"));

    master.down();
    RouterClient started = client(fleet, PATIENT, "");
    assertThat(lookup(started.send(chat("")).decision()).detail()).startsWith("unavailable");

    master.up();
    await().until(() -> lookup(started.explain(chat(""))).outcome().equals("empty"));
    await().until(() -> master.nodes().size() == 3);
    assertThat(fleet.engine(1).flushCache()).isTrue();
    warm(started, fleet.urls().get(1));
    assertThat(lookup(started.explain(chat(""))).match(fleet.urls().get(1), null)).isNotNull();
  }

  @Test
  void theInterceptorTellsHowManyBlocksMatched() throws Exception {
    FakeFleet fleet = fleet(EngineKind.SGLANG, 1);
    RouterClient client = client(fleet, PATIENT, "");
    warm(client, fleet.urls().get(1));
    OkHttpClient http =
        new OkHttpClient.Builder().addInterceptor(RoutingInterceptor.of(client)).build();
    Request request =
        new Request.Builder()
            .url("http://" + RoutingInterceptor.DEFAULT_HOST + RouterRequest.CHAT_COMPLETIONS)
            .post(RequestBody.create(body(""), MediaType.get("application/json")))
            .build();
    try (Response response = http.newCall(request).execute()) {
      RouteDecision decision = response.request().tag(RouteDecision.class);
      LookupInfo.Match match = lookup(decision).match(fleet.urls().get(1), null);
      assertThat(response.header("x-warmpath-umbp-matches"))
          .isEqualTo(Integer.toString(match.blocks()));
      assertThat(response.body().string()).contains("choices");
    }
    master.down();
    try (Response response = http.newCall(request).execute()) {
      assertThat(response.header("x-warmpath-umbp-matches")).isEqualTo("unknown");
      assertThat(response.body().string()).contains("choices");
    } finally {
      http.dispatcher().executorService().shutdown();
      http.connectionPool().evictAll();
    }
  }

  @Test
  void commandsRouteByWhatTheMasterKnows() throws Exception {
    FakeFleet fleet = fleet(EngineKind.SGLANG, 1);
    String holder = fleet.urls().get(2);
    warm(client(fleet, PATIENT, ""), holder);
    String request = Files.writeString(folder.resolve("request.json"), body("")).toString();
    String workers = String.join(",", fleet.urls());
    String files = SmallModel.writeTo(folder.resolve("again")).toString();
    for (String command : List.of("explain", "chat --why")) {
      List<String> args = new ArrayList<>(List.of(command.split(" ")));
      args.addAll(List.of("--umbp", master.address(), "--umbp-deadline", "PT20S"));
      args.addAll(List.of("--worker", workers, "--model-dir", files));
      args.addAll(List.of("--policy", "umbp", "--body", request));
      Run run = Run.of(args.toArray(String[]::new));
      assertThat(run.exitCode()).as(run.err()).isZero();
      assertThat(run.out())
          .contains(
              "umbp found, ranks that hold its beginning: 1", "chosen   " + holder + " by umbp");
    }
  }

  @Test
  void aMasterTakesAModelAndAnAddressAndWorkersThatTellIt() {
    String files = SmallModel.writeTo(folder.resolve("other")).toString();
    String[][] wrong = {
      {"chat", "hi", "--worker", "http://127.0.0.1:1", "--umbp", "127.0.0.1:1"},
      {"chat", "hi", "--worker", "http://h:1", "--model-dir", files, "--umbp", "http://h"},
      {"bench", "--fleet", "2", "--model-dir", files, "--umbp", "127.0.0.1:1"},
    };
    for (String[] args : wrong) {
      Run run = Run.of(args);
      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err()).contains("--umbp");
    }
  }

  @Test
  void theCommandLineAsksTheMaster() throws Exception {
    FakeFleet fleet = fleet(EngineKind.SGLANG, 1);
    RouterClient client = client(fleet, PATIENT, "");
    warm(client, fleet.urls().get(0));
    String key = firstKey(client);
    Run run =
        Run.of("umbp", "match", "--master", master.address(), "--hash", key + ",nope", "--json");
    assertThat(run.err()).isEmpty();
    JsonNode match = new ObjectMapper().readTree(run.out()).path("matches").path(0);
    assertThat(match.path("node").asText()).isEqualTo(fleet.urls().get(0));
    assertThat(match.path("peer").asText()).isEmpty();
    assertThat(match.path("tier").asText()).isEqualTo("hbm");
    assertThat(match.path("hashes")).hasSize(1);
    assertThat(match.path("hashes").path(0).asText()).isEqualTo(key);
    assertThat(master.hits(key)).isZero();
    assertThat(Run.of("umbp", "match", "--master", master.address(), "--hash", "-1").out())
        .contains("nobody");
    master.down();
    Run lost = Run.of("umbp", "match", "--master", master.address(), "--hash", "1");
    assertThat(lost.exitCode()).isEqualTo(1);
    assertThat(lost.err()).contains("did not answer: UNAVAILABLE");
    assertThat(Run.of("umbp", "match", "--master", "http://h", "--hash", "1").exitCode())
        .isEqualTo(2);
    assertThat(Run.of("umbp").exitCode()).isEqualTo(2);
  }
}
