package dev.warmpath.examples;

import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.TraceSession;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that let a benchmark's documents come from knowledge delivery nodes. */
final class KnowledgeLoadOptions {
  @Option(
      names = "--knowledge",
      paramLabel = "WAY",
      description =
          "with --fleet and a workload that has documents (rag): requests name them by id, and they"
              + " come from fake knowledge nodes in this process as kv, as text, or auto")
  private @Nullable KnowledgeInjection way;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "2",
      description = "knowledge nodes, each with its share of documents (default: ${DEFAULT-VALUE})")
  private int nodes = 2;

  boolean given() {
    return way != null;
  }

  LoadSettings settings(LoadSettings settings) {
    return given() ? settings.withDocumentsApart() : settings;
  }

  /**
   * Starts nodes that have the documents of the sessions.
   *
   * @return null where none are asked for
   * @throws CommandFailure if the sessions have none
   */
  @Nullable BenchKnowledge start(
      FakeFleet engines, List<TraceSession> sessions, LoadSettings settings) {
    KnowledgeInjection its = way;
    if (its == null) {
      return null;
    }
    if (nodes < 1) {
      throw CommandFailure.usage("--nodes must be at least 1");
    }
    Set<String> documents = new LinkedHashSet<>();
    for (TraceSession session : sessions) {
      if (session.documentTokens() > 0) {
        documents.add(session.document());
      }
    }
    if (documents.isEmpty()) {
      throw CommandFailure.usage("--knowledge takes a workload with documents: --workload rag");
    }
    return new BenchKnowledge(engines, documents, nodes, its, settings);
  }
}
