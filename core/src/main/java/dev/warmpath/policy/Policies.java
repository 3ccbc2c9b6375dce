package dev.warmpath.policy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The built-in policies, and how to compose them. All are immutable and may be shared.
 *
 * <p>In all of them health comes first (see {@link RoutePlan}), a lower score wins, and equals are
 * told apart by the decision's chance. <em>Load</em> below is the requests that telemetry shows as
 * running and waiting, those of this client that it does not show yet, and this client's prompt
 * tokens still to be computed there, over {@link RoutingEnvironment#tokensPerRequest()}: one long
 * request is more than one short one. Where there is no telemetry, or it is older than {@link
 * RoutingEnvironment#telemetryLimitNanos()}, it is all of this client's own requests there, and for
 * what other clients run there the mean of the other ranks: unknown is never idle.
 */
public final class Policies {
  private static final String UMBP = "umbp";
  private static final String KNOWLEDGE = "knowledge";
  private static final Map<String, Supplier<RoutingPolicy>> BY_NAME = new LinkedHashMap<>();

  static {
    BY_NAME.put("round_robin", Policies::roundRobin);
    BY_NAME.put("random", Policies::random);
    BY_NAME.put("power_of_two", Policies::powerOfTwo);
    BY_NAME.put("shortest_queue", Policies::shortestQueue);
    BY_NAME.put("homing", Policies::homing);
    BY_NAME.put("cache_aware", Policies::cacheAware);
    BY_NAME.put("linear_cost", Policies::linearCost);
    BY_NAME.put("pin", Policies::pin);
    BY_NAME.put("session", Policies::session);
    BY_NAME.put(UMBP, Policies::located);
    BY_NAME.put(KNOWLEDGE, Policies::knowledgeTarget);
  }

  private Policies() {}

  /**
   * The default: {@code pin>homing>shortest_queue}, since a service runs many clients, and each
   * sees a part of the traffic.
   */
  public static RoutingPolicy standard() {
    return chain(pin(), homing(), shortestQueue());
  }

  /**
   * The default for workers that only prefill: {@code pin>homing>shortest_queue}, too, since what
   * they hold is what they save.
   */
  public static RoutingPolicy prefill() {
    return chain(pin(), homing(), shortestQueue());
  }

  /**
   * The default for workers that only decode: {@code pin>power_of_two}. Prefixes would draw all
   * requests of a shared system prompt to one worker, whose cache decides nothing there.
   */
  public static RoutingPolicy decode() {
    return chain(pin(), powerOfTwo());
  }

  /** One after another; each (role, candidate set) takes turns of its own. */
  public static RoutingPolicy roundRobin() {
    return of(new RoundRobinLink());
  }

  /** A random one. */
  public static RoutingPolicy random() {
    return of(new RandomLink());
  }

  /** The less loaded of two random ones: little herding, and no full view is needed. */
  public static RoutingPolicy powerOfTwo() {
    return of(new PowerOfTwoLink());
  }

  /**
   * The less loaded of two random ones among those that have about the fewest requests: many
   * clients that see the same picture don't all choose the one that it shows best.
   */
  public static RoutingPolicy shortestQueue() {
    return of(new ShortestQueueLink());
  }

  /** {@link #homing(HomingSettings)} with the defaults. */
  public static RoutingPolicy homing() {
    return homing(HomingSettings.DEFAULT);
  }

  /**
   * The prompt's home, unless a queue there costs more than it saves. The home is found from the
   * prompt alone: clients that never talk to each other send what shares a prefix to the same
   * worker. The key is the first part of the prompt after its hub, the last place where many
   * prompts part whose continuations are used again, or the session key where the request has one;
   * rendezvous over {@link dev.warmpath.worker.StableHash} orders the workers by it. The first few
   * in that order are considered, by the predicted wait and the prompt tokens to compute, priced by
   * the fleet's load and by the follow-ups that look for them at home; a prefix that many ask for
   * has more than one home. Where ranks report their caches, what they hold is taken from there.
   */
  public static RoutingPolicy homing(HomingSettings settings) {
    return of(new HomingLink(settings));
  }

  /**
   * The one with the fewest tokens to pay for: its load at {@link
   * RoutingEnvironment#tokensPerRequest()} each, and twice the part of the prompt it does not hold,
   * which is computed now and left behind for the conversation's next turn. There is no threshold
   * at which affinity ends. A prefix that all hold makes no difference, and a prompt that none
   * holds goes by load.
   */
  public static RoutingPolicy cacheAware() {
    return of(new CacheAwareLink());
  }

  /**
   * By a {@link dev.warmpath.index.BlockLocator}, such as a UMBP master: {@code
   * pin>umbp>cache_aware>shortest_queue}. Where the locator tells nothing, the client's own index
   * decides.
   */
  public static RoutingPolicy umbp() {
    return chain(pin(), located(), cacheAware(), shortestQueue());
  }

  /**
   * The part {@code umbp} of {@link #umbp()}: as {@link #cacheAware()}, by what the client's {@link
   * dev.warmpath.index.BlockLocator} told, where a block counts by its tier ({@link
   * dev.warmpath.index.TierWeights}). No opinion where nothing was found.
   */
  public static RoutingPolicy located() {
    return of(new UmbpLink());
  }

  /**
   * By where a request's knowledge is: {@code pin>knowledge>linear_cost}. The group of workers that
   * was chosen for its knowledge comes first, and the ordinary policy picks inside it; a request
   * without knowledge is routed as if {@code knowledge} weren't there.
   */
  public static RoutingPolicy knowledge() {
    return chain(pin(), knowledgeTarget(), linearCost());
  }

  /**
   * The part {@code knowledge} of {@link #knowledge()}: those whom {@link RouteContext#knowledge()}
   * prefers. No opinion where nobody was chosen.
   */
  public static RoutingPolicy knowledgeTarget() {
    return of(new KnowledgeTargetLink());
  }

  /**
   * A scorer for {@link #linearCost(LinearCostWeights, List)} and {@link #scored}: minus the share
   * of the request's knowledge that a candidate was given lately ({@link
   * KnowledgeChoice#affinity}).
   */
  public static Scorer knowledgeAffinity() {
    return (context, candidate, state, matchedTokens) -> -context.knowledge().affinity(candidate);
  }

  /** {@link LinearCostWeights} with the default weights. */
  public static RoutingPolicy linearCost() {
    return linearCost(LinearCostWeights.DEFAULT);
  }

  /** The lowest weighted sum of load, latency, hit rate and prefix. */
  public static RoutingPolicy linearCost(LinearCostWeights weights) {
    return linearCost(weights, List.of());
  }

  /** The lowest weighted sum of the built-in terms and {@code more}. */
  public static RoutingPolicy linearCost(LinearCostWeights weights, List<WeightedScorer> more) {
    return of(new LinearCostLink(weights, more));
  }

  /**
   * The worker (or rank) that {@code RouteOptions.pin} names; no opinion where it names none of the
   * candidates, which {@code explain} tells.
   */
  public static RoutingPolicy pin() {
    return of(new PinLink());
  }

  /**
   * The one that the session key (else the user) hashes to, by rendezvous over {@link
   * dev.warmpath.worker.StableHash}: all clients agree. No opinion where the request has neither.
   */
  public static RoutingPolicy session() {
    return of(new SessionLink());
  }

  /**
   * The lowest weighted sum of an application's own scores.
   *
   * @param name the policy's name in decisions and metrics
   * @param scorers what is summed; at least one
   * @throws IllegalArgumentException when there is no scorer
   */
  public static RoutingPolicy scored(String name, List<WeightedScorer> scorers) {
    if (scorers.isEmpty()) {
      throw new IllegalArgumentException("policy " + name + " needs at least one scorer");
    }
    return of(new ScorerLink(name, scorers));
  }

  /**
   * A chain: the first part that has an opinion narrows the candidates to those it likes best, the
   * next part chooses among these, and so on; what is left is told apart by chance. A part that has
   * no opinion on a request is passed over. Filters of the parts hold for the whole chain.
   *
   * @throws IllegalArgumentException when there is no part
   */
  public static RoutingPolicy chain(RoutingPolicy... parts) {
    if (parts.length == 0) {
      throw new IllegalArgumentException("a policy chain needs at least one part");
    }
    List<Link> links = new ArrayList<>();
    WorkerFilters filters = WorkerFilters.NONE;
    for (RoutingPolicy part : parts) {
      if (part instanceof ChainPolicy chain) {
        links.addAll(List.of(chain.links()));
        filters = filters.with(chain.filters());
      } else {
        links.add(new PolicyLink(part));
      }
    }
    return new ChainPolicy(links, filters);
  }

  /**
   * A policy that chooses only among what all filters accept; its name stays. Where they accept
   * none the plan is empty.
   */
  public static RoutingPolicy filtered(RoutingPolicy policy, WorkerFilter... filters) {
    ChainPolicy chain = (ChainPolicy) chain(policy);
    return new ChainPolicy(List.of(chain.links()), chain.filters().with(List.of(filters)));
  }

  /**
   * Reads a configured name, or several joined by {@code >}, such as {@code
   * session>cache_aware>shortest_queue}. By itself {@code umbp} is {@link #umbp()} and {@code
   * knowledge} is {@link #knowledge()}; among others they are {@link #located()} and {@link
   * #knowledgeTarget()}.
   *
   * @throws IllegalArgumentException naming the part that is not known and the names that are
   */
  public static RoutingPolicy parse(String text) {
    return parse(text, HomingSettings.DEFAULT, LinearCostWeights.DEFAULT);
  }

  /**
   * The same, with settings for the parts {@code homing} and {@code linear_cost}.
   *
   * @throws IllegalArgumentException naming the part that is not known and the names that are
   */
  public static RoutingPolicy parse(String text, HomingSettings homing, LinearCostWeights weights) {
    if (text.trim().equals(UMBP)) {
      return umbp();
    }
    if (text.trim().equals(KNOWLEDGE)) {
      return knowledge();
    }
    List<RoutingPolicy> parts = new ArrayList<>();
    for (String part : text.split(">", -1)) {
      Supplier<RoutingPolicy> known = BY_NAME.get(part.trim());
      if (known == null) {
        throw new IllegalArgumentException(
            "unknown policy '"
                + part.trim()
                + "' in '"
                + text
                + "': use one of "
                + String.join(", ", BY_NAME.keySet())
                + ", or several joined by >");
      }
      parts.add(
          switch (part.trim()) {
            case "homing" -> homing(homing);
            case "linear_cost" -> linearCost(weights);
            default -> known.get();
          });
    }
    return chain(parts.toArray(new RoutingPolicy[0]));
  }

  /** The names that {@link #parse} knows. */
  public static Set<String> names() {
    return Set.copyOf(BY_NAME.keySet());
  }

  private static RoutingPolicy of(Link link) {
    return new ChainPolicy(List.of(link), WorkerFilters.NONE);
  }
}
