package dev.warmpath.knowledge;

import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.health.FleetView;
import dev.warmpath.transport.KnowledgeTransport.KvOrder;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Makes a request ready for its prompt to be rendered: finds out what knowledge it needs, decides
 * who delivers it and who answers, and puts it into the body. Nothing that goes wrong with nodes or
 * the retriever fails a request: it goes without. Thread safe.
 */
final class KnowledgePreparation {
  private static final String NOTHING = "nothing";

  private final KnowledgeRegistry registry;
  private final KnowledgeStrategy strategy;
  private final TargetGroups groups;
  private final KnowledgeTexts texts;
  private final @Nullable KvInjector injector;
  private final RetrieverCall retriever;
  private final InjectionSettings settings;
  private final AtomicLong requests = new AtomicLong();

  KnowledgePreparation(
      KnowledgeRegistry registry,
      KnowledgeStrategy strategy,
      TargetGroups groups,
      KnowledgeTexts texts,
      @Nullable KvInjector injector,
      RetrieverCall retriever,
      InjectionSettings settings) {
    this.registry = registry;
    this.strategy = strategy;
    this.groups = groups;
    this.texts = texts;
    this.injector = injector;
    this.retriever = retriever;
    this.settings = settings;
  }

  /** What a request needs, with the texts that came with it. */
  private record Wanted(List<String> ids, Map<String, String> texts) {}

  /**
   * What was made of a request.
   *
   * @param number the number under which it is logged
   */
  record Made(RequestKnowledge knowledge, KnowledgeDecision decision, long number) {}

  /** How its knowledge comes to the worker. */
  private record Injection(
      RouterRequest request,
      RequestKnowledge.@Nullable Kv kv,
      String injected,
      @Nullable String position,
      String why,
      int characters,
      double transferMillis,
      double recomputeMillis,
      List<String> missing) {

    static Injection none(RouterRequest request, String why) {
      return new Injection(request, null, NOTHING, null, why, 0, Double.NaN, Double.NaN, List.of());
    }
  }

  /**
   * Prepares a request.
   *
   * @param left how long the request may take, or null for as long as it likes
   * @param rehearsal whether nothing is to be remembered
   * @return null where it needs no knowledge
   */
  @Nullable Made prepare(
      RouterRequest request,
      KnowledgeNeeds needs,
      FleetView fleet,
      @Nullable Duration left,
      boolean rehearsal) {
    long began = registry.now();
    PromptBody body = PromptBody.read(request.body());
    Wanted wanted = wanted(needs, body);
    if (wanted.ids().isEmpty()) {
      return null;
    }
    CandidateSet candidates = candidates(fleet, body == null ? null : body.model());
    TargetGroups.Grouping grouping = groups.grouping(candidates);
    List<KnowledgeTarget> targets = groups.targets(grouping, fleet);
    KnowledgeCatalogue catalogue = registry.catalogue();
    KnowledgeDecision decision =
        rehearsal
            ? strategy.explain(catalogue, targets, wanted.ids())
            : strategy.decide(catalogue, targets, wanted.ids());
    long number = rehearsal ? 0 : requests.incrementAndGet();
    KnowledgeInjection way = needs.injection() == null ? settings.way() : needs.injection();
    Injection injection;
    if (way == KnowledgeInjection.OFF) {
      injection = Injection.none(request, "the application injects it itself");
    } else if (body == null || !body.takesKnowledge()) {
      injection = Injection.none(request, "the body has no place for it");
    } else {
      injection =
          new Injecting(request, body, wanted, catalogue, decision, grouping, fleet, way, number)
              .inject(InjectionSettings.within(settings.textTimeout(), left));
    }
    KnowledgeInfo info =
        new KnowledgeInfo(
            decision.knowledge(),
            injection.missing(),
            decision.node().map(KnowledgeNode::id).orElse(null),
            decision.target().map(KnowledgeTarget::id).orElse(null),
            decision.decidedBy().orElse(null),
            injection.injected(),
            injection.position(),
            injection.why(),
            injection.characters(),
            injection.transferMillis(),
            injection.recomputeMillis(),
            null,
            0,
            (registry.now() - began) / 1e6,
            steps(decision));
    return new Made(
        new RequestKnowledge(
            request,
            injection.request(),
            new RequestKnowledge.Chosen(grouping.targetOf(), decision),
            injection.kv(),
            info),
        decision,
        number);
  }

  /** Workers that serve whole requests; where there are none, those that prefill. */
  private static CandidateSet candidates(FleetView fleet, @Nullable String model) {
    CandidateSet whole = fleet.topology().candidates(model, WorkerRole.REGULAR);
    return whole.isEmpty() ? fleet.topology().candidates(model, WorkerRole.PREFILL) : whole;
  }

  private static List<String> steps(KnowledgeDecision decision) {
    List<String> lines = new ArrayList<>();
    for (KnowledgeStep step : decision.nodeSteps()) {
      lines.add("node " + line(step));
    }
    for (KnowledgeStep step : decision.targetSteps()) {
      lines.add("target " + line(step));
    }
    return lines;
  }

  private static String line(KnowledgeStep step) {
    return step.name()
        + ": "
        + step.out()
        + " of "
        + step.in()
        + " stay"
        + (step.fellBack() ? ", since none is as wanted" : "");
  }

  private Wanted wanted(KnowledgeNeeds needs, @Nullable PromptBody body) {
    Set<String> ids = new LinkedHashSet<>();
    Map<String, String> own = new HashMap<>();
    for (String id : needs.ids()) {
      ids.add(KnowledgeIds.canonical(id));
    }
    for (String text : needs.texts()) {
      take(text, ids, own);
    }
    if (needs.retrieve() && body != null) {
      for (KnowledgeRetriever.Found found : retriever.find(body.questionText())) {
        String text = found.text();
        if (text == null) {
          ids.add(KnowledgeIds.canonical(found.id()));
        } else {
          take(text, ids, own);
        }
      }
    }
    ids.remove("");
    return new Wanted(ids.stream().limit(settings.maxPieces()).toList(), own);
  }

  private void take(String text, Set<String> ids, Map<String, String> own) {
    String normal = KnowledgeIds.normalise(text);
    if (!normal.isEmpty()) {
      String id = texts.keep(normal);
      ids.add(id);
      own.put(id, normal);
    }
  }

  /** The injection of one request. */
  private final class Injecting {
    private final RouterRequest request;
    private final PromptBody body;
    private final Wanted wanted;
    private final KnowledgeCatalogue catalogue;
    private final KnowledgeDecision decision;
    private final TargetGroups.Grouping grouping;
    private final FleetView fleet;
    private final KnowledgeInjection way;
    private final long number;
    private double transferMillis = Double.NaN;
    private double recomputeMillis = Double.NaN;
    private String why = "";

    Injecting(
        RouterRequest request,
        PromptBody body,
        Wanted wanted,
        KnowledgeCatalogue catalogue,
        KnowledgeDecision decision,
        TargetGroups.Grouping grouping,
        FleetView fleet,
        KnowledgeInjection way,
        long number) {
      this.request = request;
      this.body = body;
      this.wanted = wanted;
      this.catalogue = catalogue;
      this.decision = decision;
      this.grouping = grouping;
      this.fleet = fleet;
      this.way = way;
      this.number = number;
    }

    Injection inject(Duration textTimeout) {
      List<String> ids = wanted.ids().stream().distinct().toList();
      Map<String, String> found = new LinkedHashMap<>();
      List<String> elsewhere = new ArrayList<>();
      for (String id : ids) {
        String own = wanted.texts().get(id);
        if (own == null) {
          elsewhere.add(id);
        } else {
          found.put(id, own);
        }
      }
      KnowledgeNode node = decision.node().orElse(null);
      found.putAll(texts.of(elsewhere, catalogue, node, textTimeout));
      List<String> missing = ids.stream().filter(id -> !found.containsKey(id)).toList();
      String kvPiece = way == KnowledgeInjection.TEXT ? null : kvPiece(found, node);
      List<String> order = order(found, kvPiece);
      String joined = joined(order, found);
      if (joined.isEmpty()) {
        String none = found.isEmpty() ? "no text of it is to be had" : "its text is too long";
        Injection plain = Injection.none(request, none);
        return new Injection(
            request, null, NOTHING, null, plain.why(), 0, Double.NaN, Double.NaN, missing);
      }
      RequestKnowledge.Kv kv = kvPiece == null ? null : kv(kvPiece, found, node);
      InjectionPosition at =
          kv != null ? InjectionPosition.BEFORE_SYSTEM : body.possible(settings.textPosition(way));
      boolean bare = at == InjectionPosition.BEFORE_SYSTEM || settings.heading().isEmpty();
      String text = bare ? joined : settings.heading() + PromptBody.GAP + joined;
      return new Injection(
          request.toBuilder().body(body.with(text, at)).build(),
          kv,
          kv == null ? "text" : "kv",
          body.chat() ? at.label() : "before_prompt",
          why.isEmpty() ? "text is what was asked for" : why,
          text.length(),
          transferMillis,
          recomputeMillis,
          missing);
    }

    /**
     * The piece whose KV can be found again: one, at the very front, since the KV of each was made
     * of it alone. The longest saves most.
     */
    private @Nullable String kvPiece(Map<String, String> found, @Nullable KnowledgeNode node) {
      if (node == null) {
        why = catalogue.nodes().isEmpty() ? "no node is alive" : "no node has any of it";
        return null;
      }
      if (!body.chat()) {
        why = "only a chat's prompt begins as the KV's does";
        return null;
      }
      String longest =
          found.keySet().stream()
              .filter(id -> ready(node, id))
              .max(
                  Comparator.<String>comparingInt(id -> found.getOrDefault(id, "").length())
                      .thenComparing(Comparator.reverseOrder()))
              .orElse(null);
      if (longest == null) {
        why = "node " + node.id() + " has no KV of it";
      }
      return longest;
    }

    private static boolean ready(KnowledgeNode node, String id) {
      KnowledgeItem item = node.items().get(id);
      return item != null && item.kvReady();
    }

    private RequestKnowledge.@Nullable Kv kv(
        String id, Map<String, String> found, @Nullable KnowledgeNode node) {
      KvInjector its = injector;
      KnowledgeTarget target = decision.target().orElse(null);
      if (its == null || node == null || target == null) {
        why = "nobody was chosen to take its KV";
        return null;
      }
      if (!anyEndpoint(its, target.id())) {
        why = "no worker of " + target.id() + " says where to ask for KV";
        return null;
      }
      KvCost cost = settings.cost();
      int characters = found.getOrDefault(id, "").length();
      long tokens = cost.reusableTokens(characters);
      if (tokens == 0) {
        why = "it is shorter than a chunk of " + cost.chunkTokens() + " tokens";
        return null;
      }
      transferMillis = cost.transferMillis(tokens, target.linkTo(node), node.load().queueMillis());
      recomputeMillis =
          cost.recomputeMillis(tokens, TargetGroups.pace(grouping, target.id(), fleet));
      boolean quicker = transferMillis + cost.marginMillis() < recomputeMillis;
      if (way == KnowledgeInjection.AUTO && !quicker) {
        why = "about " + tokens + " tokens are computed sooner than their KV comes";
        return null;
      }
      why =
          way == KnowledgeInjection.AUTO
              ? "the KV of about " + tokens + " tokens comes sooner than they are computed"
              : "KV is what was asked for";
      String address = node.address().substring("kdn://".length());
      String model = body.model();
      return new RequestKnowledge.Kv(
          its, new KvOrder(number, address, model == null ? "" : model, List.of(id)), tokens);
    }

    private boolean anyEndpoint(KvInjector its, String target) {
      for (TargetGroups.Group group : grouping.groups()) {
        if (group.id().equals(target)) {
          for (WorkerRank rank : group.ranks()) {
            if (its.endpoint(rank.worker()) != null) {
              return true;
            }
          }
        }
      }
      return false;
    }

    /** The KV's piece first, the others by their ids: equal sets make equal prompts. */
    private List<String> order(Map<String, String> found, @Nullable String first) {
      List<String> order = new ArrayList<>();
      if (first != null) {
        order.add(first);
      }
      found.keySet().stream().filter(id -> !id.equals(first)).sorted().forEach(order::add);
      return order;
    }

    private String joined(List<String> order, Map<String, String> found) {
      StringBuilder joined = new StringBuilder();
      for (String id : order) {
        String text = found.getOrDefault(id, "");
        int gap = joined.length() == 0 ? 0 : PromptBody.GAP.length();
        if (joined.length() + gap + text.length() <= settings.maxCharacters()) {
          joined.append(gap == 0 ? "" : PromptBody.GAP).append(text);
        }
      }
      return joined.toString();
    }
  }
}
