package dev.warmpath.knowledge;

import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.KnowledgeTransport.KvOrder;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What was decided and done for the knowledge of one request, before its prompt was rendered.
 * Thread safe: a request that is carried in parts is sent to several workers at once.
 */
public final class RequestKnowledge {
  private final RouterRequest original;
  private final RouterRequest request;
  private final KnowledgeChoice choice;
  private final @Nullable Kv kv;
  private final AtomicReference<KnowledgeInfo> info;
  private final Map<WorkerRank, Sent> sent = new ConcurrentHashMap<>();
  private volatile boolean awaitedKv;

  /** What went to a rank: when, and whether KV was put there for it. */
  private static final class Sent {
    final long nanos;
    volatile boolean put;

    Sent(long nanos) {
      this.nanos = nanos;
    }
  }

  /**
   * KV that is to be in place before the request is sent.
   *
   * @param tokens about how many tokens of the prompt it covers
   */
  record Kv(KvInjector injector, KvOrder order, long tokens) {
    /** The piece whose KV it is: the prompt begins with one alone. */
    String piece() {
      return order.ids().get(0);
    }
  }

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
    this.info = new AtomicReference<>(info);
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
    return Objects.requireNonNull(info.get());
  }

  /** Whether KV was waited for, so that the time to the first token isn't the engine's alone. */
  public boolean awaitedKv() {
    return awaitedKv;
  }

  /**
   * The exchange of an attempt, which puts the KV in place first where that is due: not where the
   * worker was given it lately, or is predicted to hold it.
   *
   * @param rank where it goes
   * @param predictedTokens how much of the prompt it is predicted to hold, by the index and weighed
   *     by how far its predictions came true; not what a policy expects it to hold by a rule
   * @param left how long the request may take at all, or null for as long as it likes
   */
  public Exchange before(
      WorkerRank rank, int predictedTokens, @Nullable Duration left, Exchange exchange) {
    Kv its = kv;
    if (its == null) {
      return exchange;
    }
    Sent before = sent.get(rank);
    if (before != null && before.put) {
      return exchange;
    }
    Sent now = new Sent(its.injector().now());
    sent.put(rank, now);
    URI endpoint = its.injector().endpoint(rank.worker());
    KvPlaces.Evidence seen = its.injector().places().seen(rank.holderId(), its.piece());
    // Whoever is sent to where KV is under way makes it look as if it were there already.
    boolean predicted =
        seen == null
            && predictedTokens >= its.tokens()
            && (endpoint == null
                || !its.injector().underWay(endpoint, rank.holderId(), its.order()));
    if (predicted || seen == KvPlaces.Evidence.HELD || seen == KvPlaces.Evidence.USELESS) {
      tell(
          predicted
              ? "the worker holds it"
              : seen == KvPlaces.Evidence.HELD
                  ? "the worker was given it lately"
                  : "the worker did not find it when it was given it",
          0);
      return exchange;
    }
    if (endpoint == null) {
      tell("the worker says nowhere to ask for it", 0);
      return exchange;
    }
    return new KvExchange(
        () -> {
          awaitedKv = true;
          KvInjector.Result result =
              its.injector().inject(endpoint, rank.holderId(), its.order(), left);
          if (result.done()) {
            now.put = true;
          }
          tell(result.outcome(), result.bytes());
        },
        exchange);
  }

  /**
   * A rank has answered, which shows whether it had the KV.
   *
   * @param cachedTokens the prompt's tokens that were in its cache; negative where it doesn't tell
   */
  public void answered(WorkerRank rank, int cachedTokens) {
    Kv its = kv;
    Sent to = sent.get(rank);
    if (its != null && to != null) {
      its.injector()
          .places()
          .answered(
              rank.holderId(),
              its.piece(),
              its.tokens(),
              cachedTokens < 0 ? OptionalInt.empty() : OptionalInt.of(cachedTokens),
              to.put,
              to.nanos);
    }
  }

  private void tell(String outcome, long bytes) {
    info.updateAndGet(
        was ->
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
                was.steps()));
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
