package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.kdn.FakeKdn;
import dev.warmpath.fake.kdn.KdnNetwork;
import dev.warmpath.fake.kdn.KdnStats;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeLink;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.KvCost;
import dev.warmpath.okhttp.OkHttpKnowledgeTransport;
import dev.warmpath.worker.WorkerSpec;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Knowledge delivery nodes of a benchmark, in this process, and what became of its requests'
 * documents under each policy. Their links are 200 Gbit/s, one transfer at a time, and as far from
 * every engine.
 */
final class BenchKnowledge implements AutoCloseable {
  private static final KdnNetwork NETWORK = new KdnNetwork(25_000, 0.8, 1, 0);
  private static final Duration KNOWN_WITHIN = Duration.ofSeconds(30);

  /** Nobody goes without a text or its KV because this machine is busy. */
  private static final Duration DELIVERY_TIMEOUT = Duration.ofSeconds(10);

  private final List<FakeKdn> nodes = new ArrayList<>();
  private final Map<String, String> endpoints = new LinkedHashMap<>();
  private final KnowledgeInjection way;
  private final double speedup;
  private final int documents;
  private final Map<String, Tally> tallies = new LinkedHashMap<>();
  private List<KnowledgeRouting> routings = new ArrayList<>();
  private long transfersBefore;
  private long bytesBefore;

  /**
   * What became of a policy's documents.
   *
   * @param transfers KV that nodes sent
   * @param bytes how much
   * @param shared requests that waited for another's
   * @param failed orders of KV that came to nothing
   * @param nothing requests that went without their document
   */
  private record Tally(long transfers, long bytes, long shared, long failed, long nothing) {}

  /** Starts nodes, each of which has its share of the documents and, but for text, their KV. */
  BenchKnowledge(
      FakeFleet engines,
      Set<String> documents,
      int count,
      KnowledgeInjection way,
      LoadSettings settings) {
    this.way = way;
    this.speedup = settings.speedup();
    this.documents = documents.size();
    for (FakeEngine engine : engines.engines()) {
      endpoints.put(engine.url(), engine.url());
      String grpc = engine.grpcUrl();
      if (grpc != null) {
        endpoints.put(grpc, engine.url());
      }
    }
    List<FakeKdn.Builder> builders = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      builders.add(FakeKdn.builder().id("kdn-" + i).network(NETWORK).speedup(speedup));
    }
    int next = 0;
    for (String document : documents) {
      builders.get(next++ % count).ready(document, settings.model());
    }
    builders.forEach(builder -> nodes.add(builder.start()));
  }

  /** The workers with where they take KV. */
  List<WorkerSpec> workers(List<WorkerSpec> workers) {
    return workers.stream()
        .map(
            spec -> {
              String url = endpoints.get(spec.id().value());
              return url == null ? spec : spec.toBuilder().label("knowledge-inject", url).build();
            })
        .toList();
  }

  /** Forgets the policy before. */
  void begin() {
    routings = new ArrayList<>();
    transfersBefore = ofNodes(KdnStats::transfers);
    bytesBefore = ofNodes(KdnStats::kvBytes);
  }

  /** A count of all nodes since they were started. */
  private long ofNodes(ToLongFunction<KdnStats> count) {
    return nodes.stream().map(FakeKdn::stats).mapToLong(count).sum();
  }

  /** A count of the clients of this policy. */
  private long ofClients(ToLongFunction<KnowledgeRouting.Stats> count) {
    return routings.stream().map(KnowledgeRouting::stats).mapToLong(count).sum();
  }

  /** The routing of one client, which closes it. Times and links are those of a faster clock. */
  KnowledgeRouting routing() throws InterruptedException {
    KnowledgeRouting.Builder builder =
        KnowledgeRouting.builder()
            .transport(OkHttpKnowledgeTransport.create())
            .injection(
                InjectionSettings.builder()
                    .way(way)
                    .textTimeout(DELIVERY_TIMEOUT)
                    .kvTimeout(DELIVERY_TIMEOUT)
                    .cost(KvCost.DEFAULT.withLoad(0, 0).withMarginMillis(0))
                    .build());
    KnowledgeLink link =
        KnowledgeLink.measured(
            NETWORK.megabytesPerSecond() * 8 * speedup, NETWORK.fixedLatencyMillis() / speedup);
    for (FakeKdn node : nodes) {
      builder.node(node.id(), URI.create(node.url()));
      endpoints.keySet().forEach(worker -> builder.link(worker, node.id(), link));
    }
    KnowledgeRouting routing = builder.build();
    routings.add(routing);
    long until = System.nanoTime() + KNOWN_WITHIN.toNanos();
    while (routing.registry().catalogue().size() < documents) {
      if (System.nanoTime() > until) {
        routing.close();
        throw CommandFailure.work("the knowledge nodes don't tell what they have");
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
    return routing;
  }

  /** Counts what has become of the documents since {@link #begin}. */
  void end(String policy) {
    tallies.put(
        policy,
        new Tally(
            ofNodes(KdnStats::transfers) - transfersBefore,
            ofNodes(KdnStats::kvBytes) - bytesBefore,
            ofClients(KnowledgeRouting.Stats::kvShared),
            ofClients(KnowledgeRouting.Stats::kvFailed),
            ofClients(KnowledgeRouting.Stats::nothing)));
  }

  /** Adds a policy's figures to its part of the document. */
  void addTo(ObjectNode policy) {
    Tally tally = tallies.get(policy.path("policy").asText());
    if (tally != null) {
      policy
          .putObject("knowledge")
          .put("injection", way.label())
          .put("documents", documents)
          .put("transfers", tally.transfers)
          .put("transferred_bytes", tally.bytes)
          .put("shared", tally.shared)
          .put("failed", tally.failed)
          .put("without", tally.nothing);
    }
  }

  /** All policies' figures as a table. */
  String table() {
    TextTable table =
        new TextTable("policy", "KV transfers", "KV GB", "shared", "failed", "without");
    tallies.forEach(
        (policy, tally) ->
            table.row(
                policy,
                Long.toString(tally.transfers),
                String.format(Locale.ROOT, "%.1f", tally.bytes / 1e9),
                Long.toString(tally.shared),
                Long.toString(tally.failed),
                Long.toString(tally.nothing)));
    return table.toString();
  }

  @Override
  public void close() {
    nodes.forEach(FakeKdn::close);
  }
}
