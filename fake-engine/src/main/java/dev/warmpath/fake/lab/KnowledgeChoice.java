package dev.warmpath.fake.lab;

import dev.warmpath.knowledge.KnowledgeDecision;
import dev.warmpath.knowledge.KnowledgeSettings;
import dev.warmpath.knowledge.KnowledgeStrategy;
import dev.warmpath.knowledge.KnowledgeTarget;
import dev.warmpath.knowledge.StageOrder;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RouteContext;
import dev.warmpath.policy.RoutingEnvironment;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.policy.WeightedScorer;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * Knowledge routing among a lab's workers and nodes: each client has a {@link KnowledgeStrategy} of
 * its own, which knows its own requests in flight and what nodes told of themselves.
 */
final class KnowledgeChoice {
  static final String DOCUMENTED = "knowledge";
  static final String LOAD_FIRST = "knowledge_load_first";

  private final String name;
  private final LabNetwork network;
  private final LabKdns kdns;
  private final KnowledgeSettings settings;
  private final IdentityHashMap<RoutingEnvironment, KnowledgeStrategy> strategies =
      new IdentityHashMap<>();
  private final IdentityHashMap<Prompt, String> choices = new IdentityHashMap<>();

  KnowledgeChoice(String name, StageOrder order, LabNetwork network, LabKdns kdns) {
    this.name = name;
    this.network = network;
    this.kdns = kdns;
    this.settings = KnowledgeSettings.builder().order(order).build();
  }

  RoutingPolicy policy() {
    return Policies.scored(
        name,
        List.of(
            new WeightedScorer(
                "knowledge",
                (context, candidate, state, matched) ->
                    candidate.toString().equals(choice(context)) ? 0 : 1,
                1)));
  }

  private String choice(RouteContext context) {
    return choices.computeIfAbsent(context.prompt(), prompt -> decide(context));
  }

  private String decide(RouteContext context) {
    LabRequest request = network.request(context.prompt());
    List<KnowledgeTarget> targets = new ArrayList<>();
    OptionalInt capacity =
        kdns.settings().capacity() == 0
            ? OptionalInt.empty()
            : OptionalInt.of(kdns.settings().capacity());
    for (WorkerRank rank : context.candidates().asList()) {
      targets.add(
          new KnowledgeTarget(
              rank.toString(),
              context.state(rank).inFlight(),
              capacity,
              OptionalDouble.empty(),
              OptionalDouble.empty(),
              kdns.linksOf(LabFleet.number(rank.worker().id().value()))));
    }
    KnowledgeDecision decision =
        strategies
            .computeIfAbsent(context.environment(), client -> new KnowledgeStrategy(settings))
            .decide(kdns.catalogue(), targets, kdns.wanted(request));
    decision.node().ifPresent(node -> kdns.choose(request, node.id()));
    return decision.target().map(KnowledgeTarget::id).orElse("");
  }
}
