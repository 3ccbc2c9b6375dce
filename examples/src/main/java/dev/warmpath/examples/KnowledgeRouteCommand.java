package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.knowledge.KnowledgeCounters;
import dev.warmpath.knowledge.KnowledgeDecision;
import dev.warmpath.knowledge.KnowledgeNode;
import dev.warmpath.knowledge.KnowledgeReplay;
import dev.warmpath.knowledge.KnowledgeSettings;
import dev.warmpath.knowledge.KnowledgeStep;
import dev.warmpath.knowledge.KnowledgeTarget;
import dev.warmpath.knowledge.LoadWindow;
import dev.warmpath.knowledge.OverloadThresholds;
import dev.warmpath.knowledge.StageOrder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Decides a recorded state of knowledge nodes and targets. */
@Command(
    name = "route",
    description = "Decides a recorded state: which node delivers, which target answers, and why.")
final class KnowledgeRouteCommand implements Callable<Integer> {

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--state",
      paramLabel = "FILE",
      required = true,
      description = "JSON: kdns, proxies, knowledge_list, kdn_knowledge_index; env, prior")
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private Path state;

  @Option(
      names = "--order",
      paramLabel = "documented|load-first",
      description = "order of the second stage's steps (default: documented)")
  private String order = "documented";

  @Option(
      names = "--window",
      paramLabel = "ratio|inflight",
      description = "what the load window compares (default: ratio)")
  private String window = "ratio";

  @Option(
      names = "--strict-reference",
      description = "decide as CacheRoute does where that is odd, too")
  private boolean strictReference;

  @Option(
      names = "--kdn-pending-overload-th",
      paramLabel = "N",
      description = "a node with as many pending transfers is overloaded; 0 is off")
  private @Nullable Long pending;

  @Option(
      names = "--kdn-active-overload-th",
      paramLabel = "N",
      description = "a node with as many active transfers is overloaded; 0 is off")
  private @Nullable Long active;

  @Option(
      names = "--kdn-queue-ms-overload-th",
      paramLabel = "MS",
      description = "a node whose transfers wait as long is overloaded; 0 is off")
  private @Nullable Double queueMillis;

  @Option(
      names = "--proxy-load-ratio-delta",
      paramLabel = "R",
      description = "width of the load window, in load ratio (default: 0.1)")
  private @Nullable Double loadRatioDelta;

  @Option(names = "--log-decision", description = "print the decision's line to standard error")
  private boolean logDecision;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    KnowledgeReplay replay = KnowledgeReplay.parse(InputFiles.text("state", state));
    KnowledgeReplay.Outcome outcome = replay.run(settings(replay));
    if (logDecision) {
      spec.commandLine().getErr().println(outcome.decision().line("-"));
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.document(document(replay, outcome)));
    } else {
      print(out, outcome.decision());
    }
    return 0;
  }

  private KnowledgeSettings settings(KnowledgeReplay replay) {
    KnowledgeSettings base =
        KnowledgeSettings.builder()
            .order(order())
            .window(window())
            .strictReference(strictReference)
            .build();
    KnowledgeSettings recorded = replay.settings(base);
    OverloadThresholds overload = recorded.overload();
    return recorded.toBuilder()
        .overload(
            new OverloadThresholds(
                overload.requestsPerSecond(),
                overload.items(),
                pending == null ? overload.pendingTransfers() : pending,
                active == null ? overload.activeTransfers() : active,
                queueMillis == null ? overload.queueMillis() : queueMillis))
        .loadRatioDelta(loadRatioDelta == null ? recorded.loadRatioDelta() : loadRatioDelta)
        .build();
  }

  private StageOrder order() {
    return switch (order) {
      case "documented" -> StageOrder.DOCUMENTED;
      case "load-first" -> StageOrder.LOAD_FIRST;
      default ->
          throw CommandFailure.usage(
              "--order is 'documented' or 'load-first', not '" + order + "'");
    };
  }

  private LoadWindow window() {
    return switch (window) {
      case "ratio" -> LoadWindow.RATIO;
      case "inflight" -> LoadWindow.IN_FLIGHT;
      default ->
          throw CommandFailure.usage("--window is 'ratio' or 'inflight', not '" + window + "'");
    };
  }

  private static ObjectNode document(KnowledgeReplay replay, KnowledgeReplay.Outcome outcome) {
    KnowledgeDecision decision = outcome.decision();
    ObjectNode document = Json.object();
    document.put("kdn", decision.node().map(KnowledgeNode::id).orElse(null));
    document.put("proxy", decision.target().map(KnowledgeTarget::id).orElse(null));
    if (decision.knowledge().isEmpty() || decision.node().isEmpty()) {
      document.putNull("usable_kdn_count"); // nothing was wanted, or nobody asked
    } else {
      document.put("usable_kdn_count", decision.usableNodes());
    }
    document.put("connectable_proxy_count", decision.connectableTargets());
    counters(document.putObject("counters"), outcome.strategy().counters());
    ObjectNode affinity = document.putObject("affinity");
    for (KnowledgeTarget target : replay.targets()) {
      ObjectNode scores = affinity.putObject(target.id());
      outcome.strategy().affinity(target.id()).forEach(scores::put);
    }
    ArrayNode steps = document.putArray("steps");
    steps(steps, "kdn", decision.nodeSteps());
    steps(steps, "proxy", decision.targetSteps());
    return document;
  }

  private static void counters(ObjectNode document, KnowledgeCounters counters) {
    document.put("requests_total", counters.requests());
    document.put("kdn_overload_filtered", counters.overloadedNodes());
    document.put("proxy_topology_hits", counters.topologyHits());
    document.put("proxy_loadsafe_filtered", counters.loadFiltered());
    document.put("proxy_affinity_hits", counters.affinityHits());
  }

  private static void steps(ArrayNode out, String stage, List<KnowledgeStep> steps) {
    for (KnowledgeStep step : steps) {
      ObjectNode document = out.addObject();
      document.put("stage", stage);
      document.put("name", step.name());
      document.put("in", step.in());
      document.put("out", step.out());
      step.dropped().forEach(document.putArray("dropped")::add);
      document.put("fell_back", step.fellBack());
    }
  }

  private static void print(PrintWriter out, KnowledgeDecision decision) {
    out.println("kdn    " + decision.node().map(KnowledgeNode::id).orElse("none"));
    out.println("proxy  " + decision.target().map(KnowledgeTarget::id).orElse("none"));
    TextTable table = new TextTable("stage", "step", "in", "out", "dropped");
    rows(table, "kdn", decision.nodeSteps());
    rows(table, "proxy", decision.targetSteps());
    out.print(table);
    if (decision.tied() > 1) {
      out.println(decision.tied() + " are equal and take turns");
    }
    out.flush();
  }

  private static void rows(TextTable table, String stage, List<KnowledgeStep> steps) {
    for (KnowledgeStep step : steps) {
      table.row(
          stage,
          step.name(),
          Integer.toString(step.in()),
          Integer.toString(step.out()),
          step.fellBack() ? "nobody fits: all stay" : String.join(" ", step.dropped()));
    }
  }
}
