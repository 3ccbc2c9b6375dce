package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.health.PredictionCheck;
import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.BlockIndexFile;
import dev.warmpath.index.BlockMatches;
import dev.warmpath.index.Tier;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IndexStoreTest {
  private static final Instant SAVED = Instant.parse("2026-01-02T03:04:05Z");
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final WorkerId W = WorkerId.parse("http://w:1");
  private static final BlockHashes PROMPT =
      HashSchemes.content(HashParams.builder().blockSize(1).model("m").build())
          .newChain()
          .append(new int[] {1, 2, 3, 4, 5})
          .hashes();

  @TempDir Path folder;

  private Path file() {
    return folder.resolve("index");
  }

  /** A client's registry and index, without the client. */
  private final class Run {
    final BlockIndex blocks = BlockIndex.builder().build();
    final WorkerRegistry registry = new WorkerRegistry();
    final IndexStore store;

    Run(Duration later) {
      store = new IndexStore(file(), LIMIT, blocks, InstantSource.fixed(SAVED.plus(later)));
      store.load();
      registry.subscribe(store);
    }

    void add(String spec) {
      registry.add(WorkerSpec.parse(spec));
    }

    Worker worker() {
      return Objects.requireNonNull(registry.current().worker(W));
    }

    void said(WorkerCapabilities said) {
      assertThat(registry.discovered(W, worker().epoch(), said)).isTrue();
    }

    void hold(WorkerRank rank) {
      blocks.stored(PROMPT, 0, PROMPT.size(), rank.holderId(), Tier.HBM);
    }

    List<Integer> held() {
      BlockMatches matches = new BlockMatches();
      blocks.match(PROMPT, matches);
      return worker().ranks().stream().map(rank -> matches.blocks(rank.holderId())).toList();
    }
  }

  private static WorkerCapabilities said(EngineKind engine, @Nullable Integer ranks, int block) {
    return new WorkerCapabilities(
        engine, null, null, List.of(ServedModel.named("m")), ranks, block, null, null, null);
  }

  /** A run in which the worker held the prompt, in its last rank. */
  private void earlier(WorkerCapabilities said) {
    Run run = new Run(Duration.ZERO);
    run.add("http://w:1");
    run.said(said);
    List<WorkerRank> ranks = run.worker().ranks();
    run.hold(ranks.get(ranks.size() - 1));
    run.store.save(run.registry.current());
    assertThat(file()).exists();
  }

  @Test
  void aWorkerIsGuessedToHoldWhatItDidBeforeItSaysWhoItIsAndAfter() {
    earlier(said(EngineKind.VLLM, null, 16));
    Run run = new Run(Duration.ofMinutes(1));
    run.add("http://other:1");
    run.add("http://w:1");
    assertThat(run.held()).containsExactly(5);
    run.said(said(EngineKind.VLLM, null, 16));
    assertThat(run.held()).containsExactly(5);
    run.said(said(EngineKind.VLLM, null, 32));
    assertThat(run.held()).as("recognized once and for all").containsExactly(5);
  }

  @Test
  void theRightRankIsGuessedOfOnceTheWorkerSaysHowManyItHas() {
    earlier(said(EngineKind.SGLANG, 3, 1));
    Run run = new Run(Duration.ofMinutes(1));
    run.add("http://w:1");
    assertThat(run.held()).containsExactly(0);
    run.said(said(EngineKind.SGLANG, 3, 1));
    assertThat(run.held()).containsExactly(0, 0, 5);
  }

  @Test
  void anotherNumberOfRanksIsAnotherWorker() {
    earlier(said(EngineKind.SGLANG, 3, 1));
    Run run = new Run(Duration.ofMinutes(1));
    run.add("http://w:1");
    run.said(said(EngineKind.SGLANG, null, 1));
    run.said(said(EngineKind.SGLANG, 3, 1));
    assertThat(run.held()).as("it said that it is another").containsExactly(0, 0, 0);
  }

  @Test
  void aWorkerThatTurnsOutToBeAnotherHoldsNothing() {
    earlier(said(EngineKind.VLLM, null, 16));
    Run engine = new Run(Duration.ZERO);
    engine.add("http://w:1");
    engine.said(said(EngineKind.SGLANG, null, 16));
    assertThat(engine.held()).containsExactly(0);
    Run size = new Run(Duration.ZERO);
    size.add("http://w:1");
    size.said(said(EngineKind.VLLM, null, 32));
    assertThat(size.held()).containsExactly(0);
    Run model = new Run(Duration.ZERO);
    model.add("http://w:1;model=n");
    assertThat(model.held()).containsExactly(0);
    model.said(said(EngineKind.VLLM, null, 16));
    assertThat(model.held()).containsExactly(0);
  }

  @Test
  void aRestartOrALeaveEndsIt() {
    earlier(said(EngineKind.VLLM, null, 16));
    Run restarted = new Run(Duration.ZERO);
    restarted.add("http://w:1");
    assertThat(restarted.held()).containsExactly(5);
    restarted.registry.restarted(W, restarted.worker().epoch());
    assertThat(restarted.held()).containsExactly(0);
    restarted.said(said(EngineKind.VLLM, null, 16));
    assertThat(restarted.held()).containsExactly(0);

    Run left = new Run(Duration.ZERO);
    left.add("http://w:1");
    left.registry.remove(W);
    left.add("http://w:1");
    assertThat(left.held()).containsExactly(0);
  }

  @Test
  void aRestartOrALeaveBeforeItIsKnownHowManyRanksThereAreEndsItToo() {
    earlier(said(EngineKind.SGLANG, 3, 1));
    Run left = new Run(Duration.ZERO);
    left.add("http://w:1");
    left.registry.remove(W);
    left.add("http://w:1");
    left.said(said(EngineKind.SGLANG, 3, 1));
    assertThat(left.held()).containsExactly(0, 0, 0);

    Run restarted = new Run(Duration.ZERO);
    restarted.add("http://w:1");
    restarted.registry.restarted(W, restarted.worker().epoch());
    restarted.said(said(EngineKind.SGLANG, 3, 1));
    assertThat(restarted.held()).containsExactly(0, 0, 0);
  }

  @Test
  void whatIsTooOldWhenTheWorkerAppearsIsIgnored() {
    earlier(said(EngineKind.VLLM, null, 16));
    Run late = new Run(LIMIT.plusMillis(1));
    late.add("http://w:1");
    assertThat(late.held()).containsExactly(0);
    Run inTime = new Run(LIMIT);
    inTime.add("http://w:1");
    assertThat(inTime.held()).containsExactly(5);
    Run ofTheFuture = new Run(LIMIT.plusMillis(1).negated());
    ofTheFuture.add("http://w:1");
    assertThat(ofTheFuture.held()).containsExactly(0);
  }

  @Test
  void aRunThatSeesNoWorkerLeavesTheFileForTheNext() {
    earlier(said(EngineKind.VLLM, null, 16));
    Run blind = new Run(Duration.ofMinutes(1));
    blind.store.save(blind.registry.current());
    Run next = new Run(Duration.ofMinutes(2));
    next.add("http://w:1");
    assertThat(next.held()).containsExactly(5);
  }

  @Test
  void aFileThatIsDamagedForeignOrTooBigIsIgnored() throws IOException {
    earlier(said(EngineKind.VLLM, null, 16));
    byte[] good = Files.readAllBytes(file());
    assertThat(new String(good, StandardCharsets.ISO_8859_1)).contains("http://w:1");
    good[good.length / 2]++;
    for (byte[] bad :
        List.of(
            good, new byte[0], "{\"not\":\"ours\"}".repeat(9).getBytes(StandardCharsets.UTF_8))) {
      Files.write(file(), bad);
      Run run = new Run(Duration.ZERO);
      run.add("http://w:1");
      assertThat(run.held()).containsExactly(0);
    }
    try (RandomAccessFile sparse = new RandomAccessFile(file().toFile(), "rw")) {
      sparse.setLength(BlockIndexFile.MOST_BYTES + 1);
    }
    Run run = new Run(Duration.ZERO);
    run.add("http://w:1");
    assertThat(run.held()).containsExactly(0);
    run.hold(run.worker().ranks().get(0));
    run.store.save(run.registry.current());
    assertThat(Files.size(file())).as("written anew").isLessThan(1_000);
  }

  @Test
  void aFolderThatIsNotThereCostsNothingButTheFile() {
    BlockIndex blocks = BlockIndex.builder().build();
    Path missing = folder.resolve("missing").resolve("index");
    IndexStore store = new IndexStore(missing, LIMIT, blocks, InstantSource.system());
    store.load();
    store.save(new WorkerRegistry().current());
    assertThat(missing).doesNotExist();
  }

  // Whole clients.

  private static final String QUESTION = "tell me about the long way home ".repeat(12);
  private final List<String> sent = new ArrayList<>();

  private RouterClient client(long seed, Duration maxAge) throws URISyntaxException {
    Tokenizer tokenizer =
        Tokenizers.load(
            Path.of(
                Objects.requireNonNull(Tokenizers.class.getResource("chatml/tokenizer.json"))
                    .toURI()));
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(
                new ScriptedTransport(
                    request -> {
                      sent.add(request.target().worker().id().value());
                      return Script.ok(
                          "{\"choices\":[],\"usage\":{\"prompt_tokens\":80,"
                              + "\"prompt_tokens_details\":{\"cached_tokens\":0}}}");
                    }))
            .policy(Policies.cacheAware())
            .model("m", ModelFiles.of(tokenizer, "{{ messages[0].content }}", Map.of()))
            .tokenizeThreads(1)
            .indexFile(file())
            .indexFileMaxAge(maxAge)
            .seed(seed);
    for (int i = 0; i < 8; i++) {
      builder.worker("http://w" + i + ":1;engine=vllm;model=m;block=16");
    }
    return builder.build();
  }

  private static RouterRequest question() {
    return RouterRequest.chatCompletions(
        "{\"model\":\"m\",\"cache_salt\":\"pepper\",\"messages\":[{\"role\":\"user\",\"content\":\""
            + QUESTION
            + "\"}]}");
  }

  @Test
  void aClientThatIsReopenedGoesToTheHolderAtOnce() throws Exception {
    for (int seed = 0; seed < 4; seed++) {
      Files.deleteIfExists(file());
      try (RouterClient client = client(seed, Duration.ofDays(1))) {
        client.send(question());
      }
      String holder = sent.get(sent.size() - 1);
      byte[] saved = Files.readAllBytes(file());
      assertThat(new String(saved, StandardCharsets.ISO_8859_1))
          .contains(holder)
          .doesNotContain("long way", "tell me", "pepper");
      try (RouterClient client = client(seed + 100, Duration.ofDays(1))) {
        // Nobody waits for probes: what is configured is enough to go by.
        RouteDecision decision = client.send(question()).decision();
        assertThat(sent.get(sent.size() - 1)).isEqualTo(holder);
        assertThat(Objects.requireNonNull(decision.chosen()).matchedTokens()).isPositive();
        PredictionCheck.Verdict verdict = Objects.requireNonNull(client.predictions().get(holder));
        assertThat(verdict.failed()).as("a guess that failed counts like others").isOne();
      }
    }
    try (var left = Files.list(folder)) {
      assertThat(left).containsExactly(file());
    }
  }

  @Test
  void aClientThatIsToldThatTheFileIsTooOldStartsEmpty() throws Exception {
    try (RouterClient client = client(1, Duration.ofDays(1))) {
      client.send(question());
    }
    BlockIndexFile.Content content;
    try (InputStream in = Files.newInputStream(file())) {
      content = BlockIndexFile.read(in);
    }
    try (OutputStream out = Files.newOutputStream(file())) {
      BlockIndexFile.write(new BlockIndexFile.Content(SAVED, content.ranks()), out);
    }
    try (RouterClient client = client(2, LIMIT)) {
      assertThat(client.stats().blocks().holdings()).isZero();
    }
  }

  @Test
  void aClientWithoutTheModelKeepsNothing() {
    try (RouterClient client =
        RouterClient.builder()
            .transport(new ScriptedTransport(request -> Script.ok("{}")))
            .worker("http://w:1;engine=vllm;model=m")
            .indexFile(file())
            .build()) {
      client.send(question());
    }
    assertThat(file()).doesNotExist();
  }
}
