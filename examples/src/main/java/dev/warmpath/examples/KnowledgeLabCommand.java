package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.lab.KnowledgeStudy;
import dev.warmpath.fake.lab.KnowledgeStudy.Row;
import dev.warmpath.fake.lab.KnowledgeStudy.Spread;
import dev.warmpath.fake.lab.LabKnowledge;
import dev.warmpath.fake.lab.LabSettings;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.knowledge.StageOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Compares policies on a simulated fleet with knowledge nodes. */
@Command(
    name = "lab",
    description =
        "Compares policies in virtual time on a fleet with knowledge delivery nodes: time to the"
            + " first token, and KV that has to be sent.")
final class KnowledgeLabCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--policy",
      split = ",",
      paramLabel = "P",
      defaultValue = "round_robin,cache_aware,linear_cost,homing,knowledge,knowledge>homing",
      description = "policies (default: ${DEFAULT-VALUE})")
  private List<String> policies = List.of();

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "16",
      description = "vLLM workers (default: ${DEFAULT-VALUE})")
  private int workers = 16;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "knowledge nodes, each near its share of the workers (default: ${DEFAULT-VALUE})")
  private int nodes = 4;

  @Option(
      names = "--copies",
      paramLabel = "N",
      defaultValue = "1",
      description = "nodes that have a document (default: ${DEFAULT-VALUE})")
  private int copies = 1;

  @Option(
      names = "--near",
      paramLabel = "MBPS",
      defaultValue = "100000",
      description = "bandwidth to a near worker (default: ${DEFAULT-VALUE})")
  private double near = 100_000;

  @Option(
      names = "--far",
      paramLabel = "MBPS",
      defaultValue = "25000",
      description = "bandwidth to a far worker (default: ${DEFAULT-VALUE})")
  private double far = 25_000;

  @Option(
      names = "--injection",
      paramLabel = "WHEN",
      defaultValue = "AUTO",
      description =
          "kv sends a document's KV always, auto where that should be faster than to compute it,"
              + " text never (default: auto)")
  private KnowledgeInjection injection = KnowledgeInjection.AUTO;

  @Option(
      names = "--order",
      paramLabel = "ORDER",
      defaultValue = "DOCUMENTED",
      description = "the second stage's order: documented or load_first (default: documented)")
  private StageOrder order = StageOrder.DOCUMENTED;

  @Option(
      names = "--blocks",
      paramLabel = "N",
      defaultValue = "4096",
      description = "KV blocks of 64 tokens of a worker (default: ${DEFAULT-VALUE})")
  private int blocks = 4_096;

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "8",
      description = "independent router clients (default: ${DEFAULT-VALUE})")
  private int clients = 8;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "the first seed (default: ${DEFAULT-VALUE})")
  private long seed = 1;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      defaultValue = "3",
      description = "how many seeds (default: ${DEFAULT-VALUE})")
  private int seeds = 3;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "parameters of the workload 'knowledge' (default: rate=32 duration=120, and its own)")
  private Map<String, String> set = new LinkedHashMap<>();

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Override
  public Integer call() {
    if (seeds < 1) {
      throw CommandFailure.usage("--seeds " + seeds + " must be 1 or more");
    }
    LabKnowledge usual = LabKnowledge.DEFAULT;
    LabSettings.Builder settings =
        LabSettings.builder()
            .fleet(FleetSpec.parse(Integer.toString(workers)))
            .clients(clients)
            .core(CoreOptions.builder().numBlocks(blocks).build())
            .knowledge(
                new LabKnowledge(
                    nodes,
                    usual.network(),
                    usual.kv(),
                    near,
                    usual.nearMs(),
                    far,
                    usual.farMs(),
                    copies,
                    usual.heartbeatMs(),
                    injection,
                    order));
    Map<String, String> workload = new LinkedHashMap<>(Map.of("rate", "32", "duration", "120"));
    workload.putAll(set);
    List<Row> rows =
        KnowledgeStudy.run(
            settings, workload, policies, LongStream.range(seed, seed + seeds).boxed().toList());
    spec.commandLine().getOut().println(json ? Json.document(document(rows)) : table(rows));
    if (rows.stream().anyMatch(row -> row.failed() > 0)) {
      throw CommandFailure.work("requests failed in the lab");
    }
    return 0;
  }

  private ObjectNode document(List<Row> rows) {
    ObjectNode document = Json.object();
    document.put("seed", seed).put("seeds", seeds).put("clients", clients);
    document.put("injection", injection.name().toLowerCase(Locale.ROOT));
    ArrayNode all = document.putArray("policies");
    for (Row row : rows) {
      ObjectNode one = all.addObject().put("policy", row.policy());
      put(one, "ttft_ms", row.ttftMs());
      put(one, "ttft_p99_ms", row.ttftP99Ms());
      put(one, "kv_gigabytes", row.gigabytes());
      put(one, "kv_transfers", row.transfers());
      put(one, "kv_repeats", row.repeats());
      put(one, "documents_recomputed", row.recomputed());
      put(one, "hit_rate", row.hitRate());
      one.put("failed", row.failed());
    }
    return document;
  }

  private static void put(ObjectNode node, String name, Spread spread) {
    ObjectNode of = node.putObject(name);
    Json.put(of, "mean", spread.mean());
    Json.put(of, "least", spread.least());
    Json.put(of, "most", spread.most());
  }

  private static String table(List<Row> rows) {
    TextTable table =
        new TextTable(
            "policy",
            "ttft ms",
            "ttft p99 ms",
            "KV sent GB",
            "transfers",
            "repeats",
            "recomputed",
            "hit rate");
    for (Row row : rows) {
      table.row(
          row.policy(),
          text(row.ttftMs(), 1, 1),
          text(row.ttftP99Ms(), 1, 0),
          text(row.gigabytes(), 1, 0),
          text(row.transfers(), 1, 0),
          text(row.repeats(), 1, 0),
          text(row.recomputed(), 1, 0),
          text(row.hitRate(), 100, 1) + " %");
    }
    return table.toString().stripTrailing();
  }

  /** The mean, and how far the seeds are apart. */
  private static String text(Spread spread, double factor, int digits) {
    String number = "%." + digits + "f";
    return String.format(
        Locale.ROOT,
        number + " (" + number + "-" + number + ")",
        spread.mean() * factor,
        spread.least() * factor,
        spread.most() * factor);
  }
}
