package dev.warmpath.pd;

import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.dispatch.Dispatcher;
import dev.warmpath.dispatch.WorkerClaim;
import dev.warmpath.health.FleetView;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.policy.Candidate;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.policy.RouteContext;
import dev.warmpath.policy.RouteExplanation;
import dev.warmpath.policy.RoutePlan;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Chooses pairs: prefill by one policy, decode by another among those that match it. Neither
 * policy's round robin moves the other's, and decode's turns are counted apart for each prefill
 * rank, so that every pair comes up. Thread safe.
 */
final class PdSelector {
  private static final int MAX_POOLS = 1_024;

  private final Dispatcher dispatcher;
  private volatile PdRules rules;
  private volatile Pools pools = new Pools(Topology.EMPTY, new ConcurrentHashMap<>());

  private record Pools(Topology topology, ConcurrentHashMap<String, PdPool> byKey) {}

  PdSelector(Dispatcher dispatcher, PdRules rules) {
    this.dispatcher = dispatcher;
    this.rules = rules;
  }

  /** What requests go by that begin now. */
  PdRules rules() {
    return rules;
  }

  /** Sets what requests go by that begin from now on. */
  void rules(PdRules next) {
    rules = next;
  }

  /** Who serves a prompt's model in pairs. */
  PdPool pool(Topology topology, @Nullable String model, String path) {
    Pools known = pools;
    if (known.topology != topology) {
      known = new Pools(topology, new ConcurrentHashMap<>());
      pools = known;
    }
    String key = path + '\n' + (model == null ? "" : model);
    PdPool pool = known.byKey.get(key);
    if (pool == null) {
      pool = new PdPool(topology, model, path);
      if (known.byKey.size() < MAX_POOLS) {
        known.byKey.put(key, pool);
      }
    }
    return pool;
  }

  /**
   * Whether a request is for a pair: there are workers of both roles, and no regular worker is to
   * be preferred.
   */
  boolean takes(FleetView view, Prompt prompt, String path) {
    Topology topology = view.topology();
    if (!topology.disaggregated()) {
      return false;
    }
    PdPool pool = pool(topology, prompt.model(), path);
    boolean regular = !topology.candidates(prompt.model(), WorkerRole.REGULAR).isEmpty();
    return pool.bothRoles()
        && (!regular || (rules.settings().pairsFirst() && !pool.prefill().isEmpty()));
  }

  /**
   * Chooses a pair and takes both places.
   *
   * @throws NoWorkerAvailableException when no two workers match
   */
  PdChoice choose(PdWanted wanted, PdExclusions passOver) {
    long now = dispatcher.now();
    FleetView view = dispatcher.view();
    Prompt prompt = wanted.prompt();
    PdPool pool = pool(view.topology(), prompt.model(), wanted.path());
    CandidateSet sources = sources(wanted, pool);
    PdChoice direct = direct(view, pool, wanted, passOver, now);
    if (direct != null) {
      return direct;
    }
    WorkerClaim prefill =
        claim(view, passOver.prefill(sources), wanted.by().prefill(), wanted, true, now);
    WorkerClaim decode = null;
    try {
      WorkerRank source = prefill.candidate().target();
      CandidateSet sinks =
          passOver.decode(wanted.able(pool.decode(source.worker())), source.worker());
      decode = claim(view, apart(sinks, source), wanted.by().decode(), wanted, false, now);
      PdPair pair =
          new PdPair(
              prefill.candidate(),
              decode.candidate(),
              pool.traits(source.worker()),
              pool.traits(decode.candidate().target().worker()));
      return new PdChoice(pair, prefill, decode, null, uncached(prompt, prefill.candidate()));
    } finally {
      if (decode == null) {
        prefill.neutral(null);
      }
    }
  }

  /**
   * Prefill candidates that can be sent the request, and have a partner that can.
   *
   * @throws NoWorkerAvailableException when there are none
   */
  private static CandidateSet sources(PdWanted wanted, PdPool pool) {
    CandidateSet able = wanted.able(pool.prefill());
    if (wanted.refusal() != null) {
      able = able.where(rank -> !wanted.able(pool.decode(rank.worker())).isEmpty());
    }
    if (able.isEmpty()) {
      throw none(wanted, pool);
    }
    return able;
  }

  private static CandidateSet apart(CandidateSet sinks, WorkerRank source) {
    return sinks.turningApart(source.stableHash());
  }

  private @Nullable PdChoice direct(
      FleetView view, PdPool pool, PdWanted wanted, PdExclusions passOver, long now) {
    int threshold = wanted.by().settings().directBelowTokens();
    if (threshold == 0 || pool.alone().isEmpty()) {
      return null;
    }
    Prompt prompt = wanted.prompt();
    CandidateSet alone = passOver.decode(wanted.able(pool.alone()), null);
    RouteContext context = context(view, alone, wanted, now, true);
    RoutingPolicy policy =
        context.environment().policySwitch().choose(wanted.by().decode(), context);
    Candidate best = policy.plan(context).next();
    if (best == null || uncached(prompt, best) >= threshold) {
      return null;
    }
    int uncached = uncached(prompt, best);
    WorkerClaim decode = dispatcher.claim(best, uncached, prompt, false, now);
    if (decode == null) {
      return null;
    }
    PdPair pair = new PdPair(null, best, null, pool.traits(best.target().worker()));
    return new PdChoice(pair, null, decode, why(uncached, threshold), uncached);
  }

  private static String why(int uncached, int threshold) {
    return uncached + " uncached tokens are fewer than " + threshold;
  }

  /**
   * Another decode worker for a hand-off that nobody has claimed; null where there is none but
   * those that failed.
   */
  @Nullable WorkerClaim chooseDecode(PdPair pair, PdWanted wanted, PdExclusions passOver) {
    long now = dispatcher.now();
    FleetView view = dispatcher.view();
    Candidate source = pair.prefill();
    if (source == null) {
      return null;
    }
    PdPool pool = pool(view.topology(), wanted.prompt().model(), wanted.path());
    if (!pool.prefill().asList().contains(source.target())) {
      return null;
    }
    long failed = pair.decode().target().worker().epoch();
    CandidateSet sinks =
        passOver
            .decode(wanted.able(pool.decode(source.target().worker())), source.target().worker())
            .where(rank -> rank.worker().epoch() != failed);
    return sinks.isEmpty() ? null : claim(view, sinks, wanted.by().decode(), wanted, false, now);
  }

  private static RouteExplanation explain(RoutingPolicy policy, RouteContext context) {
    return context.environment().policySwitch().choose(policy, context).explain(context);
  }

  /** The first that may be sent to; where none may, the first of all. */
  private WorkerClaim claim(
      FleetView view,
      CandidateSet among,
      RoutingPolicy policy,
      PdWanted wanted,
      boolean prefill,
      long now) {
    Prompt prompt = wanted.prompt();
    RouteContext context = context(view, among, wanted, now, false);
    RoutePlan plan = context.environment().policySwitch().choose(policy, context).plan(context);
    Candidate first = null;
    for (Candidate candidate = plan.next(); candidate != null; candidate = plan.next()) {
      first = first == null ? candidate : first;
      WorkerClaim claim = claim(candidate, prompt, prefill, false, now);
      if (claim != null) {
        return claim;
      }
    }
    WorkerClaim forced = first == null ? null : claim(first, prompt, prefill, true, now);
    if (forced == null) {
      throw new NoWorkerAvailableException(
          "the " + among.role().label() + " part of the request", Map.of());
    }
    return forced;
  }

  private @Nullable WorkerClaim claim(
      Candidate candidate, Prompt prompt, boolean prefill, boolean force, long now) {
    return dispatcher.claim(
        candidate, prefill ? uncached(prompt, candidate) : 0, prefill ? prompt : null, force, now);
  }

  private static int uncached(Prompt prompt, Candidate candidate) {
    return Math.max(0, prompt.tokens() - candidate.matchedTokens());
  }

  private static NoWorkerAvailableException none(PdWanted wanted, PdPool pool) {
    String model = wanted.prompt().model();
    String what = model == null ? "the request" : "model '" + model + "'";
    Map<String, String> refusals = new LinkedHashMap<>(pool.refusals());
    refusals.putAll(wanted.refusals(pool.prefill()));
    for (WorkerRank source : pool.prefill().asList()) {
      refusals.putAll(wanted.refusals(pool.decode(source.worker())));
    }
    return new NoWorkerAvailableException(what + " as prefill and decode", refusals);
  }

  private RouteContext context(
      FleetView view, CandidateSet among, PdWanted wanted, long now, boolean rehearsal) {
    return dispatcher
        .context(view, among, wanted.prompt(), wanted.options(), wanted.located(), now, rehearsal)
        .withKnowledge(wanted.knowledge());
  }

  /**
   * Decides and sends nothing.
   *
   * @throws NoWorkerAvailableException when no two workers match
   */
  RouteDecision explain(
      RouterRequest request, Prompt prompt, String path, KnowledgeChoice knowledge) {
    PdRules by = rules;
    int threshold = by.settings().directBelowTokens();
    RouteOptions options = dispatcher.options(request);
    long now = dispatcher.now();
    FleetView view = dispatcher.view();
    PdPool pool = pool(view.topology(), prompt.model(), path);
    BlockLocations located = dispatcher.locate(prompt, false, null);
    PdWanted wanted =
        new PdWanted(
            by, prompt, options, located, path, dispatcher.refusal(request, prompt), knowledge);
    CandidateSet sources = sources(wanted, pool);
    RouteExplanation first = explain(by.prefill(), context(view, sources, wanted, now, true));
    CandidateView source = first.candidates().get(0);
    WorkerRank chosen = rank(sources, source);
    CandidateSet sinks = apart(wanted.able(pool.decode(chosen.worker())), chosen);
    RouteExplanation second = explain(by.decode(), context(view, sinks, wanted, now, true));
    CandidateView sink = second.candidates().get(0);
    WorkerRank sinkRank = rank(sinks, sink);
    List<String> steps = new ArrayList<>();
    steps.add("prefill and decode are apart: " + pool.traits(chosen.worker()).protocol().name());
    pool.refusals().forEach((worker, why) -> steps.add(worker + " takes no part: " + why));
    steps.addAll(located.steps());
    steps.addAll(first.steps());
    steps.addAll(second.steps());
    int uncached = uncached(prompt, source);
    String direct = null;
    CandidateSet alone = wanted.able(pool.alone());
    if (threshold > 0 && !alone.isEmpty()) {
      RouteExplanation third = explain(by.decode(), context(view, alone, wanted, now, true));
      CandidateView best = third.candidates().get(0);
      int left = uncached(prompt, best);
      if (left < threshold) {
        direct = why(left, threshold);
        second = third;
        sink = best;
        sinkRank = rank(alone, best);
        uncached = left;
        steps.add("decode alone: " + direct);
      } else {
        steps.add(left + " uncached tokens: a prefill worker computes them");
      }
    }
    List<CandidateView> views = new ArrayList<>(first.candidates());
    views.addAll(second.candidates());
    return new RouteDecision(
        by.names(),
        view.topology().version(),
        dispatcher.summaryOf(prompt),
        views,
        sink,
        steps,
        List.of(),
        new PdInfo(
            direct != null ? null : source.worker(),
            direct != null ? null : source.rank(),
            sink.worker(),
            sink.rank(),
            pool.traits(sinkRank.worker()).protocol().name(),
            0,
            null,
            0,
            direct,
            uncached,
            Double.NaN,
            Double.NaN,
            Double.NaN,
            Double.NaN,
            null),
        located.info());
  }

  private static int uncached(Prompt prompt, CandidateView view) {
    return Math.max(0, prompt.tokens() - view.matchedTokens());
  }

  private static WorkerRank rank(CandidateSet among, CandidateView view) {
    for (WorkerRank rank : among.asList()) {
      Integer number = view.rank();
      if (rank.worker().id().value().equals(view.worker())
          && rank.rank().orElse(-1) == (number == null ? -1 : number)) {
        return rank;
      }
    }
    throw new IllegalStateException(view.worker() + " is no candidate");
  }
}
