package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Predicate;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class KnowledgePropertiesTest {

  private static final List<String> PIECES = List.of("k", "l", "m", "n");

  private static KnowledgeSettings settings(Random random) {
    return KnowledgeSettings.builder()
        .order(random.nextBoolean() ? StageOrder.DOCUMENTED : StageOrder.LOAD_FIRST)
        .window(random.nextBoolean() ? LoadWindow.RATIO : LoadWindow.IN_FLIGHT)
        .gpuDelta(random.nextInt(2) * 10)
        .overload(new OverloadThresholds(random.nextInt(4), 0, random.nextInt(3), 0, 0))
        .affinityTopK(random.nextInt(4))
        .strictReference(random.nextInt(4) == 0)
        .build();
  }

  private static List<KnowledgeNode> nodes(Random random) {
    List<KnowledgeNode> nodes = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      Map<String, KnowledgeItem> items = new HashMap<>();
      for (String piece : PIECES) {
        if (random.nextBoolean()) {
          items.put(piece, new KnowledgeItem(random.nextInt(3) * 100, random.nextBoolean()));
        }
      }
      NodeLoad load =
          new NodeLoad(
              OptionalLong.empty(),
              random.nextBoolean() ? OptionalDouble.of(random.nextInt(4)) : OptionalDouble.empty(),
              random.nextBoolean() ? OptionalLong.of(random.nextInt(4)) : OptionalLong.empty(),
              OptionalLong.empty(),
              OptionalDouble.empty());
      nodes.add(KnowledgeFixtures.node("n" + i, items, load));
    }
    return nodes;
  }

  private static List<KnowledgeTarget> targets(Random random) {
    List<KnowledgeTarget> targets = new ArrayList<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      Map<String, KnowledgeLink> links = new HashMap<>();
      for (int n = 1; n <= 4; n++) {
        switch (random.nextInt(3)) {
          case 0 -> links.put("n" + n, KnowledgeLink.graded(random.nextInt(3), random.nextInt(3)));
          case 1 ->
              links.put("n" + n, KnowledgeLink.measured(random.nextInt(3), random.nextInt(3)));
          default -> {}
        }
      }
      targets.add(
          new KnowledgeTarget(
              "t" + i,
              random.nextInt(4),
              random.nextBoolean() ? OptionalInt.of(random.nextInt(9)) : OptionalInt.empty(),
              OptionalDouble.empty(),
              random.nextBoolean() ? OptionalDouble.of(random.nextInt(90)) : OptionalDouble.empty(),
              links));
    }
    return targets;
  }

  private static List<String> wanted(Random random) {
    List<String> wanted = new ArrayList<>(PIECES);
    Collections.shuffle(wanted, random);
    return wanted.subList(0, random.nextInt(PIECES.size() + 1));
  }

  @Property
  void noStepIsEverLeftWithoutACandidate(@ForAll long seed) {
    Random random = new Random(seed);
    KnowledgeSettings settings = settings(random);
    KnowledgeStrategy strategy = new KnowledgeStrategy(settings);
    for (int i = 0; i < 20; i++) {
      List<KnowledgeNode> nodes = nodes(random);
      List<KnowledgeTarget> targets = targets(random);
      List<String> wanted = wanted(random);
      boolean anyKnown =
          wanted.isEmpty()
              || settings.strictReference()
              || nodes.stream()
                  .anyMatch(node -> wanted.stream().anyMatch(node.items()::containsKey));

      KnowledgeDecision decision = strategy.decide(KnowledgeCatalogue.of(nodes), targets, wanted);

      assertThat(decision.node().isPresent()).isEqualTo(!nodes.isEmpty() && anyKnown);
      assertThat(decision.target().isPresent()).isEqualTo(!targets.isEmpty());
      checkSteps(decision.nodeSteps(), nodes.size());
      checkSteps(decision.targetSteps(), targets.size());
    }
  }

  private static void checkSteps(List<KnowledgeStep> steps, int candidates) {
    int in = candidates;
    for (KnowledgeStep step : steps) {
      assertThat(step.in()).isEqualTo(in);
      assertThat(step.dropped()).hasSize(step.in() - step.out());
      assertThat(step.out()).isGreaterThanOrEqualTo(Math.min(1, candidates));
      in = step.out();
    }
  }

  @Property
  void theOrderOfTheListsDoesNotMatter(@ForAll long seed) {
    Random random = new Random(seed);
    KnowledgeSettings settings = settings(random);
    KnowledgeStrategy one = new KnowledgeStrategy(settings);
    KnowledgeStrategy other = new KnowledgeStrategy(settings);
    for (int i = 0; i < 20; i++) {
      List<KnowledgeNode> nodes = sameLengths(nodes(random));
      List<KnowledgeTarget> targets = targets(random);
      List<String> wanted = wanted(random);
      KnowledgeDecision decision = one.decide(KnowledgeCatalogue.of(nodes), targets, wanted);
      Collections.shuffle(nodes, random);
      Collections.shuffle(targets, random);

      KnowledgeDecision shuffled = other.decide(KnowledgeCatalogue.of(nodes), targets, wanted);

      assertThat(shuffled.node()).isEqualTo(decision.node());
      assertThat(shuffled.target()).isEqualTo(decision.target());
    }
  }

  /** Nodes that agree on lengths, as nodes do that address knowledge by its content. */
  private static List<KnowledgeNode> sameLengths(List<KnowledgeNode> nodes) {
    List<KnowledgeNode> same = new ArrayList<>();
    for (KnowledgeNode node : nodes) {
      Map<String, KnowledgeItem> items = new HashMap<>();
      node.items()
          .forEach(
              (id, item) -> items.put(id, new KnowledgeItem(100 * id.charAt(0), item.kvReady())));
      same.add(KnowledgeFixtures.node(node.id(), items, node.load()));
    }
    return same;
  }

  @Property
  void whatIsRememberedIsBounded(@ForAll long seed) {
    Random random = new Random(seed);
    KnowledgeSettings settings = settings(random).toBuilder().affinityTopK(3).build();
    KnowledgeStrategy strategy = new KnowledgeStrategy(settings);
    for (int i = 0; i < 60; i++) {
      strategy.decide(KnowledgeCatalogue.of(nodes(random)), targets(random), wanted(random));
    }
    for (int t = 1; t <= 5; t++) {
      Map<String, Double> remembered = strategy.affinity("t" + t);
      assertThat(remembered).hasSizeLessThanOrEqualTo(3);
      assertThat(remembered.values())
          .allSatisfy(score -> assertThat(score).isPositive().isLessThanOrEqualTo(10.0));
    }
  }

  /**
   * What no node has leaves the choice to the targets, whatever nodes there are, whatever they
   * have, and whatever was remembered before: they decide as if there were no nodes.
   */
  @Property
  void unknownKnowledgeLeavesTheChoiceToTheTargets(@ForAll long seed) {
    Random random = new Random(seed);
    KnowledgeStrategy strategy = strategyWithHistory(random, false);
    KnowledgeCatalogue catalogue = KnowledgeCatalogue.of(nodes(random));
    List<KnowledgeTarget> targets = targets(random);
    List<String> unknown = List.of("nobody has this", "nor that").subList(random.nextInt(2), 2);

    KnowledgeDecision decision = strategy.explain(catalogue, targets, unknown);

    KnowledgeDecision targetOnly = strategy.explain(KnowledgeCatalogue.EMPTY, targets, unknown);
    assertThat(decision.node()).isEmpty();
    assertThat(decision.target()).isEqualTo(targetOnly.target());
    assertThat(decision.targets()).isEqualTo(targetOnly.targets());
    assertThat(decision.targetSteps()).isEqualTo(targetOnly.targetSteps());
    assertThat(decision.target().isPresent()).isEqualTo(!targets.isEmpty());
  }

  /** A piece that somebody has keeps its node, whatever nobody has is wanted beside it. */
  @Property
  void unknownKnowledgeBesideKnownChangesNoNode(@ForAll long seed) {
    Random random = new Random(seed);
    KnowledgeStrategy strategy = strategyWithHistory(random, random.nextBoolean());
    List<KnowledgeNode> nodes = nodes(random);
    String wanted = PIECES.get(random.nextInt(PIECES.size()));
    boolean known = nodes.stream().anyMatch(node -> node.items().containsKey(wanted));
    Assume.that(known);
    KnowledgeCatalogue catalogue = KnowledgeCatalogue.of(nodes);

    KnowledgeDecision decision =
        strategy.explain(catalogue, targets(random), List.of("nobody has this", wanted));

    assertThat(decision.nodeSteps().get(0).fellBack()).isTrue();
    assertThat(decision.node()).isPresent();
    long best =
        decision.nodes().stream()
            .filter(
                candidate ->
                    candidate.overloaded()
                        == decision.nodes().stream().allMatch(NodeCandidate::overloaded))
            .mapToLong(NodeCandidate::kvCoverLength)
            .max()
            .orElseThrow();
    assertThat(decision.nodes())
        .anySatisfy(
            candidate -> {
              assertThat(candidate.node()).isEqualTo(decision.node().orElseThrow());
              assertThat(candidate.kvCoverLength()).isEqualTo(best);
            });
  }

  private static KnowledgeStrategy strategyWithHistory(Random random, boolean strict) {
    KnowledgeStrategy strategy =
        new KnowledgeStrategy(settings(random).toBuilder().strictReference(strict).build());
    for (int i = random.nextInt(20); i > 0; i--) {
      List<String> wanted = new ArrayList<>(wanted(random));
      if (random.nextBoolean()) {
        wanted.add("nor that");
      }
      strategy.decide(KnowledgeCatalogue.of(nodes(random)), targets(random), wanted);
    }
    return strategy;
  }

  /** Whatever a rule leaves, even nothing, somebody stays, and the step says what happened. */
  @Property
  void aRuleThatLeavesNobodyLeavesEverybody(
      @ForAll @Size(max = 8) List<@IntRange(max = 5) Integer> candidates,
      @ForAll @Size(max = 6) List<@IntRange(max = 63) Integer> rules) {
    Funnel<Integer> funnel = new Funnel<>(candidates, String::valueOf);
    for (int rule : rules) {
      List<Integer> before = funnel.left();
      Predicate<Integer> kept = candidate -> (rule >> candidate & 1) != 0;

      funnel.prefer("rule " + rule, kept);

      List<Integer> would = before.stream().filter(kept).toList();
      KnowledgeStep step = funnel.steps().get(funnel.steps().size() - 1);
      assertThat(funnel.left()).isEqualTo(would.isEmpty() ? before : would);
      assertThat(step.fellBack()).isEqualTo(would.isEmpty() && !before.isEmpty());
      assertThat(step.out()).isEqualTo(funnel.left().size());
    }
    checkSteps(funnel.steps(), candidates.size());
  }

  @Property
  void equalHistoriesMakeEqualChoices(@ForAll long seed) {
    assertThat(history(seed)).isEqualTo(history(seed));
  }

  private static List<Object> history(long seed) {
    Random random = new Random(seed);
    KnowledgeStrategy strategy = new KnowledgeStrategy(settings(random));
    List<Object> history = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      history.add(
          strategy.decide(KnowledgeCatalogue.of(nodes(random)), targets(random), wanted(random)));
    }
    history.add(strategy.counters());
    return history;
  }

  /** A table that fades at once is what the lazy one must equal, to the last bit. */
  @Property
  void fadingLaterIsFadingAtOnce(@ForAll long seed) {
    Random random = new Random(seed);
    AffinityTable lazy = new AffinityTable(0.9, 0, false);
    Map<String, Map<String, Double>> eager = new HashMap<>();
    for (int i = 0; i < 300; i++) {
      lazy.fade(List.of());
      for (Map<String, Double> scores : eager.values()) {
        scores.replaceAll((id, score) -> score * 0.9);
        scores.values().removeIf(score -> score < 1e-6);
      }
      if (random.nextInt(40) == 0) {
        String target = "t" + random.nextInt(3);
        List<String> wanted = wanted(random);
        lazy.add(target, wanted);
        Map<String, Double> scores = eager.computeIfAbsent(target, t -> new HashMap<>());
        wanted.forEach(id -> scores.merge(id, 1.0, Double::sum));
      }
      String asked = "t" + random.nextInt(3);
      assertThat(lazy.scores(List.of("k"), new double[] {1}).getOrDefault(asked, 0.0))
          .isEqualTo(eager.getOrDefault(asked, Map.of()).getOrDefault("k", 0.0));
    }
    for (int t = 0; t < 3; t++) {
      assertThat(lazy.of("t" + t)).isEqualTo(eager.getOrDefault("t" + t, Map.of()));
    }
  }
}
