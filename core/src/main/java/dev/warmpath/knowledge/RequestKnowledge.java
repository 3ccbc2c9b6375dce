package dev.warmpath.knowledge;

import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.policy.Candidate;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.KnowledgeTransport.KvOrder;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was decided and done for the knowledge of one request, before its prompt was rendered.
 * Driven by the request's thread; {@link #info()} may be asked from any.
 */
public final class RequestKnowledge {
  private final RouterRequest original;
  private final RouterRequest request;
  private final KnowledgeChoice choice;
  private final @Nullable Kv kv;
  private volatile KnowledgeInfo info;
  private @Nullable WorkerId injectedAt;
  private volatile boolean awaitedKv;

  /**
   * KV that is to be in place before the request is sent.
   *
   * @param tokens about how many tokens of the prompt it covers
   */
  record Kv(KvInjector injector, KvOrder order, long tokens) {}

  RequestKnowledge(
      RouterRequest original,
      RouterRequest request,
      KnowledgeChoice choice,
      @Nullable Kv kv,
      KnowledgeInfo info) {
    this.original = original;
    this.request = request;
    this.choice = choice;
    this.kv = kv;
    this.info = info;
  }

  /** The request as the application gave it. */
  public RouterRequest original() {
    return original;
  }

  /** The request with its knowledge in its body: what is rendered, hashed and sent. */
  public RouterRequest request() {
    return request;
  }

  /** Who should answer. */
  public KnowledgeChoice choice() {
    return choice;
  }

  /** What became of it, as far as it has come. */
  public KnowledgeInfo info() {
    return info;
  }

  /** Whether KV was waited for, so that the time to the first token isn't the engine's alone. */
  public boolean awaitedKv() {
    return awaitedKv;
  }

  /**
   * The exchange of an attempt, which puts the KV in place first where that is due: not where the
   * worker is known to hold it, or was just given it.
   */
  public Exchange before(Candidate candidate, OutboundRequest outbound, Exchange exchange) {
    Kv its = kv;
    if (its == null) {
      return exchange;
    }
    WorkerId worker = candidate.target().worker().id();
    if (worker.equals(injectedAt)) {
      return exchange;
    }
    if (candidate.matchedTokens() >= its.tokens()) {
      tell("the worker holds it", 0);
      return exchange;
    }
    URI endpoint = its.injector().endpoint(candidate.target().worker());
    if (endpoint == null) {
      tell("the worker says nowhere to ask for it", 0);
      return exchange;
    }
    return new KvExchange(
        () -> {
          awaitedKv = true;
          KvInjector.Result result =
              its.injector().inject(endpoint, its.order(), outbound.timeouts().total());
          if (result.done()) {
            injectedAt = worker;
          }
          tell(result.outcome(), result.bytes());
        },
        exchange);
  }

  private void tell(String outcome, long bytes) {
    KnowledgeInfo was = info;
    info =
        new KnowledgeInfo(
            was.ids(),
            was.missing(),
            was.node(),
            was.target(),
            was.decidedBy(),
            was.injected(),
            was.position(),
            was.why(),
            was.characters(),
            was.transferMillis(),
            was.recomputeMillis(),
            outcome,
            was.transferredBytes() + bytes,
            was.millis(),
            was.steps());
  }

  /** The choice that a decision made of a grouping's targets. */
  static final class Chosen implements KnowledgeChoice {
    private final Map<WorkerId, String> targetOf;
    private final @Nullable String target;
    private final Map<String, Double> affinities;
    private final String note;

    Chosen(Map<WorkerId, String> targetOf, KnowledgeDecision decision) {
      this.targetOf = targetOf;
      this.target = decision.target().map(KnowledgeTarget::id).orElse(null);
      this.affinities = shares(decision.targets());
      this.note =
          "knowledge of "
              + decision.node().map(node -> "node " + node.id()).orElse("no node")
              + " goes to "
              + (target == null ? "nobody" : target)
              + decision.decidedBy().map(step -> ", by " + step).orElse("");
    }

    private static Map<String, Double> shares(List<TargetCandidate> targets) {
      double most = 0;
      for (TargetCandidate candidate : targets) {
        most = Math.max(most, candidate.affinity());
      }
      if (most == 0) {
        return Map.of();
      }
      Map<String, Double> shares = new HashMap<>();
      for (TargetCandidate candidate : targets) {
        shares.put(candidate.target().id(), candidate.affinity() / most);
      }
      return shares;
    }

    @Override
    public boolean made() {
      return target != null;
    }

    @Override
    public boolean prefers(WorkerRank candidate) {
      String its = target;
      return its != null && its.equals(targetOf.get(candidate.worker().id()));
    }

    @Override
    public double affinity(WorkerRank candidate) {
      if (affinities.isEmpty()) {
        return Double.NaN;
      }
      String its = targetOf.get(candidate.worker().id());
      return its == null ? 0 : affinities.getOrDefault(its, 0.0);
    }

    @Override
    public @Nullable String note() {
      return note;
    }
  }
}
