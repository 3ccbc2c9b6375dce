package dev.warmpath.knowledge;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A decision over 64 nodes and 256 targets that needs 8 pieces of knowledge out of 2,000. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class KnowledgeDecisionBenchmark {

  private static final int PIECES = 2_000;

  /** Order of the second stage. */
  @Param({"DOCUMENTED", "LOAD_FIRST"})
  public StageOrder order = StageOrder.DOCUMENTED;

  private KnowledgeCatalogue catalogue = KnowledgeCatalogue.EMPTY;
  private final List<KnowledgeTarget> targets = new ArrayList<>();
  private final List<List<String>> requests = new ArrayList<>();
  private KnowledgeStrategy strategy = new KnowledgeStrategy(KnowledgeSettings.DEFAULT);
  private int next;

  /** Makes nodes with half of the knowledge each, targets with a link to every node, requests. */
  @Setup
  public void prepare() {
    SplittableRandom random = new SplittableRandom(7);
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < PIECES; i++) {
      ids.add(KnowledgeIds.of("piece " + i));
    }
    List<KnowledgeNode> nodes = new ArrayList<>();
    for (int n = 0; n < 64; n++) {
      Map<String, KnowledgeItem> items = new HashMap<>();
      for (String id : ids) {
        if (random.nextBoolean()) {
          items.put(id, new KnowledgeItem(1_000, random.nextBoolean()));
        }
      }
      NodeLoad load =
          new NodeLoad(
              OptionalLong.of(items.size()),
              OptionalDouble.of(random.nextInt(10)),
              OptionalLong.of(0),
              OptionalLong.of(0),
              OptionalDouble.of(0));
      nodes.add(
          new KnowledgeNode("n" + n, KnowledgeNode.addressOf("n" + n, 9101), items, load, false));
    }
    catalogue = KnowledgeCatalogue.of(nodes);
    for (int t = 0; t < 256; t++) {
      Map<String, KnowledgeLink> links = new HashMap<>();
      for (KnowledgeNode node : nodes) {
        links.put(node.id(), KnowledgeLink.graded(random.nextInt(2), random.nextInt(2)));
      }
      targets.add(
          new KnowledgeTarget(
              "t" + t,
              random.nextInt(3),
              OptionalInt.of(32),
              OptionalDouble.of(0),
              OptionalDouble.of(0),
              links));
    }
    for (int r = 0; r < 1_024; r++) {
      List<String> wanted = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        wanted.add(ids.get((int) (PIECES * Math.pow(random.nextDouble(), 2))));
      }
      requests.add(wanted);
    }
    strategy = new KnowledgeStrategy(KnowledgeSettings.builder().order(order).build());
    for (int i = 0; i < 20_000; i++) {
      decide();
    }
  }

  /** One decision, remembered. */
  @Benchmark
  public KnowledgeDecision decide() {
    next = (next + 1) & 1_023;
    return strategy.decide(catalogue, targets, requests.get(next));
  }
}
