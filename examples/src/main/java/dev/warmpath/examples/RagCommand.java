package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.warmpath.RouterClient;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.Usage;
import dev.warmpath.examples.rag.NodePublisher;
import dev.warmpath.examples.rag.RagService;
import dev.warmpath.examples.rag.RagService.Answer;
import dev.warmpath.examples.rag.TextFolder;
import dev.warmpath.examples.rag.TextFolder.Piece;
import dev.warmpath.examples.rag.WordEmbedding;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.kdn.FakeKdn;
import dev.warmpath.fake.kdn.KdnNetwork;
import dev.warmpath.fake.kdn.KnowledgeKv;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeLink;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.embedding.EmbeddingRetriever;
import dev.warmpath.okhttp.OkHttpKnowledgeTransport;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs the example RAG service on fake engines and fake knowledge nodes. */
@Command(
    name = "rag",
    description =
        "Indexes a folder of texts, gives them to fake knowledge nodes, and answers questions from"
            + " them on fake engines: once with the knowledge as text, once with its KV.")
final class RagCommand implements Callable<Integer> {
  private static final String MODEL = "fake-model";
  private static final String MINI_LM =
      "dev.langchain4j.model.embedding.onnx.allminilml6v2.AllMiniLmL6V2EmbeddingModel";
  private static final int USUAL_QUESTIONS = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--folder",
      required = true,
      paramLabel = "DIR",
      description = "the folder with .md and .txt files")
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private Path folder;

  @Parameters(
      arity = "0..*",
      paramLabel = "QUESTION",
      description = "what to ask (default: about the headings of some pieces)")
  private List<String> questions = List.of();

  @Option(
      names = "--embedding",
      paramLabel = "NAME",
      defaultValue = "words",
      description =
          "words, by the words that texts share with the question, or minilm, the in-process model"
              + " all-MiniLM-L6-v2, whose jars must be on the class path (default: words)")
  private String embedding = "words";

  @Option(
      names = "--piece",
      paramLabel = "N",
      defaultValue = "8000",
      description = "characters of a piece, about (default: ${DEFAULT-VALUE})")
  private int piece = 8_000;

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "4",
      description = "fake vLLM engines (default: ${DEFAULT-VALUE})")
  private int workers = 4;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "2",
      description = "fake knowledge nodes, each near its share of the engines (default: 2)")
  private int nodes = 2;

  @Option(
      names = "--bandwidth",
      paramLabel = "MB/S",
      defaultValue = "12500",
      description = "bandwidth of a node's link (default: ${DEFAULT-VALUE}, 100 Gbit/s)")
  private double bandwidth = 12_500;

  @Option(
      names = "--prefill-factor",
      paramLabel = "X",
      defaultValue = "8.75",
      description =
          "how much longer prompts take than on an 8B model (default: ${DEFAULT-VALUE}, as on one of"
              + " 70B)")
  private double prefillFactor = 8.75;

  @Option(
      names = "--kv-bytes",
      paramLabel = "N",
      defaultValue = "327680",
      description = "KV of a token (default: ${DEFAULT-VALUE}, Llama 3.1 70B in 16 bits)")
  private long kvBytes = 327_680;

  @Option(
      names = "--speedup",
      paramLabel = "X",
      defaultValue = "1",
      description = "divides all simulated times (default: ${DEFAULT-VALUE})")
  private double speedup = 1;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  /** One question, answered in one way. */
  private record Row(String way, String question, Answer answer) {}

  @Override
  public Integer call() throws Exception {
    if (!Files.isDirectory(folder)) {
      throw CommandFailure.usage("folder '" + folder + "' can't be read");
    }
    if (workers < 1 || nodes < 1 || piece < 1 || !(prefillFactor > 0)) {
      throw CommandFailure.usage(
          "--workers, --nodes and --piece must be 1 or more, --prefill-factor above 0");
    }
    List<Piece> pieces = TextFolder.read(folder, piece);
    if (pieces.isEmpty()) {
      throw CommandFailure.usage("folder '" + folder + "' has no .md or .txt files with text");
    }
    EmbeddingRetriever retriever = new EmbeddingRetriever(model(), 1, 0.05, 0.75);
    List<String> ids = retriever.add(pieces.stream().map(Piece::text).toList());
    Map<String, String> sources = new HashMap<>();
    for (int i = 0; i < ids.size(); i++) {
      sources.putIfAbsent(ids.get(i), pieces.get(i).source());
    }
    List<String> asked = questions.isEmpty() ? usualQuestions(pieces) : questions;
    List<Row> rows = new ArrayList<>();
    List<FakeKdn> kdns = new ArrayList<>();
    try (FakeFleet fleet =
        FakeFleet.start(
            Integer.toString(workers),
            engine ->
                engine
                    .kind(EngineKind.VLLM)
                    .model(MODEL)
                    .timing(LatencyModel.polynomial().scaled(1 / prefillFactor, 1))
                    .speedup(speedup))) {
      for (int i = 0; i < nodes; i++) {
        kdns.add(
            FakeKdn.builder()
                .id("kdn-" + i)
                .network(new KdnNetwork(bandwidth, 0.8, 1, 0))
                .kv(new KnowledgeKv(KnowledgeKv.DEFAULT.chunkTokens(), kvBytes))
                .speedup(speedup)
                .start());
      }
      publish(pieces, kdns, fleet);
      for (KnowledgeInjection way : List.of(KnowledgeInjection.TEXT, KnowledgeInjection.KV)) {
        flush(fleet);
        ask(
            way,
            asked,
            retriever,
            fleet,
            kdns,
            new ArrayList<>()); // the first calls of a JVM are slow
        flush(fleet);
        ask(way, asked, retriever, fleet, kdns, rows);
      }
    } finally {
      kdns.forEach(FakeKdn::close);
    }
    spec.commandLine()
        .getOut()
        .println(
            json
                ? Json.document(document(rows, sources, pieces.size()))
                : table(rows, sources, pieces.size()));
    return 0;
  }

  private EmbeddingModel model() {
    return switch (embedding) {
      case "words" -> new WordEmbedding();
      case "minilm" -> miniLm();
      default ->
          throw CommandFailure.usage("--embedding is words or minilm, not '" + embedding + "'");
    };
  }

  /** By its name, since its jars are many times the size of all others together. */
  private static EmbeddingModel miniLm() {
    try {
      return Class.forName(MINI_LM).asSubclass(EmbeddingModel.class).getConstructor().newInstance();
    } catch (ReflectiveOperationException | LinkageError e) {
      throw CommandFailure.usage("all-MiniLM-L6-v2 is not in this jar: build it with -Pminilm");
    }
  }

  private static List<String> usualQuestions(List<Piece> pieces) {
    List<String> usual = new ArrayList<>();
    for (int i = 0; i < Math.min(USUAL_QUESTIONS, pieces.size()); i++) {
      Piece of = pieces.get(i * pieces.size() / Math.min(USUAL_QUESTIONS, pieces.size()));
      String heading = of.text().lines().findFirst().orElse("").replaceAll("[#|`*]", "").strip();
      usual.add("What is said of: " + heading + "?");
    }
    return usual;
  }

  /** Each piece goes to one node, which has the first engine near it build the KV. */
  private static void publish(List<Piece> pieces, List<FakeKdn> kdns, FakeFleet fleet)
      throws IOException, InterruptedException {
    for (int i = 0; i < pieces.size(); i++) {
      int node = i % kdns.size();
      NodePublisher publisher = new NodePublisher(URI.create(kdns.get(node).url()));
      String id = publisher.publish(pieces.get(i).text());
      publisher.buildKv(id, URI.create(fleet.urls().get(node % fleet.urls().size())), MODEL);
    }
  }

  /** What building KV, or the way before, left in the caches. */
  private static void flush(FakeFleet fleet) {
    await(fleet::flushAll, "the engines don't come to rest");
  }

  private static void await(BooleanSupplier condition, String complaint) {
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - until > 0) {
        throw CommandFailure.work(complaint);
      }
      try {
        Thread.sleep(5);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw CommandFailure.work("interrupted");
      }
    }
  }

  private void ask(
      KnowledgeInjection way,
      List<String> asked,
      EmbeddingRetriever retriever,
      FakeFleet fleet,
      List<FakeKdn> kdns,
      List<Row> rows)
      throws IOException {
    KnowledgeRouting.Builder knowledge =
        KnowledgeRouting.builder()
            .transport(OkHttpKnowledgeTransport.create())
            .retriever(retriever)
            .injection(
                InjectionSettings.builder().textTimeout(PATIENCE).kvTimeout(PATIENCE).build());
    RouterClient.Builder client =
        RouterClient.builder().transport(OkHttpTransport.create()).policy(Policies.knowledge());
    for (FakeKdn kdn : kdns) {
      knowledge.node(kdn.id(), URI.create(kdn.url()));
    }
    for (int i = 0; i < fleet.engines().size(); i++) {
      FakeEngine engine = fleet.engine(i);
      client.worker(engine.url() + ";knowledge-inject=" + engine.url());
      for (int node = 0; node < kdns.size(); node++) {
        boolean near = i % kdns.size() == node;
        knowledge.link(
            engine.url(),
            kdns.get(node).id(),
            KnowledgeLink.measured(near ? 100_000 : 25_000, near ? 0.05 : 1));
      }
    }
    KnowledgeRouting routing = knowledge.build();
    try (RouterClient router = client.knowledge(routing).build()) {
      await(
          () -> routing.registry().catalogue().nodes().size() == kdns.size(),
          "the knowledge nodes don't answer");
      Views.awaitLooked(router, PATIENCE);
      RagService service = new RagService(router, MODEL, 16);
      for (String question : asked) {
        rows.add(new Row(way.label(), question, service.ask(question, way)));
      }
    }
  }

  private static ObjectNode document(List<Row> rows, Map<String, String> sources, int pieces) {
    ObjectNode document = Json.object().put("pieces", pieces);
    ArrayNode answers = document.putArray("answers");
    for (Row row : rows) {
      Usage usage = row.answer.usage();
      KnowledgeInfo info = row.answer.knowledge();
      ObjectNode one = answers.addObject().put("way", row.way).put("question", row.question);
      one.put("source", source(info, sources));
      one.put("worker", row.answer.worker());
      one.put("node", info == null ? null : info.node());
      one.put("injected", info == null ? null : info.injected());
      one.put("position", info == null ? null : info.position());
      one.put("why", info == null ? null : info.why());
      one.put("kv", info == null ? null : info.kv());
      one.put("kv_bytes", info == null ? 0 : info.transferredBytes());
      one.put("prompt_tokens", usage == null ? null : usage.promptTokens());
      one.put("cached_tokens", usage == null ? null : usage.cachedTokens());
      Json.put(one, "ttft_ms", row.answer.firstTokenMillis());
      one.put("text", row.answer.text());
    }
    return document;
  }

  private static @Nullable String source(
      @Nullable KnowledgeInfo info, Map<String, String> sources) {
    return info == null || info.ids().isEmpty() ? null : sources.get(info.ids().get(0));
  }

  private static String table(List<Row> rows, Map<String, String> sources, int pieces) {
    TextTable table =
        new TextTable(
            "question", "way", "found in", "node", "prompt", "cached", "KV MB", "ttft ms");
    for (Row row : rows) {
      Usage usage = row.answer.usage();
      KnowledgeInfo info = row.answer.knowledge();
      table.row(
          row.question.length() > 40 ? row.question.substring(0, 37) + "..." : row.question,
          row.way,
          String.valueOf(source(info, sources)),
          info == null ? "-" : String.valueOf(info.node()),
          usage == null ? "-" : String.valueOf(usage.promptTokens()),
          usage == null ? "-" : String.valueOf(usage.cachedTokens()),
          info == null ? "-" : String.format(Locale.ROOT, "%.1f", info.transferredBytes() / 1e6),
          String.format(Locale.ROOT, "%.1f", row.answer.firstTokenMillis()));
    }
    StringBuilder text = new StringBuilder(pieces + " pieces of text" + System.lineSeparator());
    text.append(table);
    for (String way : List.of("text", "kv")) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-5s mean time to the first token %.1f ms, %.1f MB of KV sent%n",
              way,
              rows.stream()
                  .filter(row -> row.way.equals(way))
                  .mapToDouble(row -> row.answer.firstTokenMillis())
                  .average()
                  .orElse(Double.NaN),
              rows.stream()
                      .filter(row -> row.way.equals(way) && row.answer.knowledge() != null)
                      .mapToLong(
                          row ->
                              row.answer.knowledge() == null
                                  ? 0
                                  : row.answer.knowledge().transferredBytes())
                      .sum()
                  / 1e6));
    }
    return text.toString().stripTrailing();
  }
}
