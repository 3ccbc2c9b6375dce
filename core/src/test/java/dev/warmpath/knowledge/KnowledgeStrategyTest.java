package dev.warmpath.knowledge;

import static dev.warmpath.knowledge.KnowledgeFixtures.chosen;
import static dev.warmpath.knowledge.KnowledgeFixtures.kv;
import static dev.warmpath.knowledge.KnowledgeFixtures.node;
import static dev.warmpath.knowledge.KnowledgeFixtures.perSecond;
import static dev.warmpath.knowledge.KnowledgeFixtures.target;
import static dev.warmpath.knowledge.KnowledgeFixtures.text;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KnowledgeStrategyTest {

  private static final KnowledgeSettings DEFAULT = KnowledgeSettings.DEFAULT;
  private static final KnowledgeSettings LOAD_FIRST =
      KnowledgeSettings.builder().order(StageOrder.LOAD_FIRST).build();

  @Test
  void withoutAnyNodeATargetIsStillChosen() {
    KnowledgeDecision decision =
        new KnowledgeStrategy(DEFAULT)
            .decide(
                KnowledgeCatalogue.EMPTY,
                List.of(target("a", 3, 8), target("b", 0, 8)),
                List.of("k"));

    assertThat(decision.node()).isEmpty();
    assertThat(decision.target()).hasValueSatisfying(t -> assertThat(t.id()).isEqualTo("b"));
  }

  @Test
  void withoutAnyTargetANodeIsStillChosen() {
    KnowledgeDecision decision =
        new KnowledgeStrategy(DEFAULT)
            .decide(
                KnowledgeCatalogue.of(List.of(node("n", Map.of("k", kv(9))))),
                List.of(),
                List.of("k"));

    assertThat(decision.node()).isPresent();
    assertThat(decision.target()).isEmpty();
    assertThat(decision.tied()).isZero();
  }

  @Test
  void loadThatOneNodeNeverReportedComparesNobody() {
    List<KnowledgeNode> nodes =
        List.of(node("a", Map.of("k", kv(9)), perSecond(5)), node("b", Map.of("k", kv(9))));

    KnowledgeDecision decision =
        new KnowledgeStrategy(DEFAULT)
            .decide(KnowledgeCatalogue.of(nodes), List.of(), List.of("k"));

    assertThat(decision.node()).hasValueSatisfying(n -> assertThat(n.id()).isEqualTo("a"));
    assertThat(
            new KnowledgeStrategy(DEFAULT.toBuilder().strictReference(true).build())
                .decide(KnowledgeCatalogue.of(nodes), List.of(), List.of("k"))
                .node())
        .hasValueSatisfying(n -> assertThat(n.id()).isEqualTo("b"));
  }

  @Test
  void unknownCapacityComparesRequestsInFlight() {
    List<KnowledgeTarget> targets = List.of(target("full", 7, 8), target("idle", 0, 0));

    assertThat(chosen(new KnowledgeStrategy(DEFAULT), List.of(), targets)).isEqualTo("idle");
  }

  @Test
  void aPieceNamedTwiceCountsOnce() {
    List<KnowledgeNode> nodes =
        List.of(
            node("a", Map.of("k", kv(10), "l", text(3))),
            node("b", Map.of("k", text(10), "l", kv(15))));

    KnowledgeDecision decision =
        new KnowledgeStrategy(DEFAULT)
            .decide(KnowledgeCatalogue.of(nodes), List.of(), List.of("k", "K ", "l"));

    assertThat(decision.knowledge()).containsExactly("k", "l");
    assertThat(decision.node()).hasValueSatisfying(n -> assertThat(n.id()).isEqualTo("b"));
  }

  @Test
  void aLatencyTierOfZeroIsTheBest() {
    List<KnowledgeNode> nodes = List.of(node("n", Map.of("k", kv(9))));
    List<KnowledgeTarget> targets =
        List.of(
            target("a", 0, 8, Map.of("n", KnowledgeLink.graded(3, 1))),
            target("b", 0, 8, Map.of("n", KnowledgeLink.graded(3, 0))));

    assertThat(chosen(new KnowledgeStrategy(DEFAULT), nodes, targets, "k")).isEqualTo("b");
  }

  @Test
  void linksAreComparedAsMeasuredWhereOneIsNotGraded() {
    List<KnowledgeNode> nodes = List.of(node("n", Map.of("k", kv(9))));
    List<KnowledgeTarget> targets =
        List.of(
            target("graded", 0, 8, Map.of("n", KnowledgeLink.graded(3, 1))),
            target("slow", 0, 8, Map.of("n", KnowledgeLink.measured(100, 1))),
            target("fast", 0, 8, Map.of("kdn://n:9101", KnowledgeLink.measured(10_000, 1))));

    assertThat(chosen(new KnowledgeStrategy(DEFAULT), nodes, targets, "k")).isEqualTo("fast");
  }

  @Test
  void theOrdersDifferInWhoDecidesFirst() {
    List<KnowledgeNode> nodes = List.of(node("n", Map.of("k", kv(9))));
    List<KnowledgeTarget> targets =
        List.of(
            target("near", 6, 8, Map.of("n", KnowledgeLink.measured(10_000, 1))),
            target("far", 0, 8, Map.of("n", KnowledgeLink.measured(10, 1))));

    KnowledgeDecision documented =
        new KnowledgeStrategy(DEFAULT).decide(KnowledgeCatalogue.of(nodes), targets, List.of("k"));
    KnowledgeDecision loadFirst =
        new KnowledgeStrategy(LOAD_FIRST)
            .decide(KnowledgeCatalogue.of(nodes), targets, List.of("k"));

    assertThat(documented.target()).hasValueSatisfying(t -> assertThat(t.id()).isEqualTo("near"));
    assertThat(documented.decidedBy()).contains("topology_best_group");
    assertThat(loadFirst.target()).hasValueSatisfying(t -> assertThat(t.id()).isEqualTo("far"));
    assertThat(loadFirst.decidedBy()).contains("load_safe_window");
  }

  @Test
  void knowledgeGoesWhereItWasGivenBefore() {
    KnowledgeStrategy strategy = new KnowledgeStrategy(DEFAULT);
    List<KnowledgeTarget> targets = List.of(target("a", 0, 16), target("b", 0, 16));
    String first = chosen(strategy, List.of(), targets, "k");
    String other = first.equals("a") ? "b" : "a";

    assertThat(chosen(strategy, List.of(), targets, "k")).isEqualTo(first);
    assertThat(chosen(strategy, List.of(), targets, "l")).isEqualTo(other);
    assertThat(chosen(strategy, List.of(), targets, "l")).isEqualTo(other);
    assertThat(chosen(strategy, List.of(), targets, "k")).isEqualTo(first);
  }

  @Test
  void requestsWithoutKnowledgeMakeNothingFade() {
    KnowledgeStrategy strategy = new KnowledgeStrategy(DEFAULT);
    List<KnowledgeTarget> targets = List.of(target("a", 0, 16));
    strategy.decide(KnowledgeCatalogue.EMPTY, targets, List.of("k"));
    for (int i = 0; i < 10; i++) {
      strategy.decide(KnowledgeCatalogue.EMPTY, targets, List.of());
    }

    assertThat(strategy.affinity("a")).containsEntry("k", 1.0);
  }

  @Test
  void whatATargetWasGivenFadesWhileItIsAway() {
    KnowledgeStrategy strategy = new KnowledgeStrategy(DEFAULT);
    strategy.decide(KnowledgeCatalogue.EMPTY, List.of(target("gone", 0, 16)), List.of("k"));
    for (int i = 0; i < 200; i++) {
      strategy.decide(KnowledgeCatalogue.EMPTY, List.of(target("here", 0, 16)), List.of("l"));
    }

    assertThat(strategy.affinity("gone")).isEmpty();
    assertThat(strategy.affinity("here").get("l")).isBetween(9.99, 10.0);
  }

  @Test
  void anExplanationChangesNothing() {
    KnowledgeStrategy strategy = new KnowledgeStrategy(DEFAULT);
    List<KnowledgeTarget> targets = List.of(target("a", 0, 8), target("b", 0, 8));

    for (int i = 0; i < 3; i++) {
      assertThat(strategy.explain(KnowledgeCatalogue.EMPTY, targets, List.of("k")).target())
          .hasValueSatisfying(t -> assertThat(t.id()).isEqualTo("a"));
    }
    assertThat(strategy.counters()).isEqualTo(KnowledgeCounters.NONE);
    assertThat(strategy.affinity("a")).isEmpty();
  }

  @Test
  void theExplanationSaysWhoWasDroppedAndWhatWasKnownBefore() {
    KnowledgeStrategy strategy = new KnowledgeStrategy(DEFAULT);
    List<KnowledgeNode> nodes = List.of(node("full", Map.of("k", kv(9))), node("empty", Map.of()));
    List<KnowledgeTarget> targets = List.of(target("a", 0, 8), target("b", 5, 8));

    KnowledgeDecision decision =
        strategy.decide(KnowledgeCatalogue.of(nodes), targets, List.of("k"));

    assertThat(decision.nodeSteps().get(0))
        .isEqualTo(new KnowledgeStep("text_full", 2, 1, List.of("empty"), false));
    assertThat(decision.targetSteps())
        .contains(new KnowledgeStep("load_safe_window", 2, 1, List.of("b"), false));
    assertThat(decision.targets()).allSatisfy(t -> assertThat(t.affinity()).isZero());
    assertThat(decision.usableNodes()).isOne();
  }
}
