package dev.warmpath.policy;

import dev.warmpath.health.Availability;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.RankState;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.StableHash;
import dev.warmpath.worker.WorkerRank;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The working memory of one evaluation: the candidates by number, what was read of them, and who is
 * still in play. Reused from decision to decision; belongs to one thread at a time.
 *
 * <p>Candidates stand in tiers: those believed to answer, suspects, those that are down. One tier
 * is in play at a time; its <em>members</em> (given already or not) are what means and shared
 * prefixes are taken over, so that a candidate's score does not depend on which others were given.
 */
final class Board {
  static final int HEALTHY = 0;
  static final int SUSPECT = 1;
  static final int DOWN = 2;
  static final int LEFT_OUT = 3;

  private static final int TIES = 0x7135;

  private final PrefixSource.Query query;
  private @Nullable RouteContext context;
  private @Nullable ChainPlan plan;

  private @Nullable RankState[] states = {};
  private int[] tiers = {};
  private int tier;
  private int[] members = {};
  private int memberCount;
  private int[] positions = {};
  private int[] live = {};
  private int liveCount;

  /** By candidate; written by links for those in play. */
  double[] score = {};

  /** By candidate; for a link's own use. */
  double[] extra = {};

  private boolean matchesRead;
  private int[] matched = {};
  private int shared;

  private boolean loadsRead;
  private double[] running = {};
  private double[] waiting = {};
  private double[] usage = {};
  private double[] hitRate = {};
  private double[] inFlight = {};
  private double[] latency = {};

  private @Nullable Link placedBy;
  private double placedScore;

  Board(PrefixSource.Query query) {
    this.query = query;
  }

  /** Takes in the candidates of a plan that were not given yet, unless there are none. */
  boolean open(ChainPlan plan) {
    RouteContext context = plan.context();
    this.context = context;
    this.plan = plan;
    CandidateSet candidates = context.candidates();
    FleetView fleet = context.fleet();
    WorkerFilters filters = plan.policy().filters();
    int size = candidates.size();
    grow(size);
    int best = LEFT_OUT;
    boolean open = filters.isEmpty();
    boolean untouched = plan.untouched();
    for (int i = 0; i < size; i++) {
      RankState state = fleet.state(WorkerRank.slotOf(candidates.holderId(i)));
      states[i] = state;
      int standing =
          open || filters.accept(context, candidates.get(i), state) ? standing(state) : LEFT_OUT;
      tiers[i] = standing;
      if (standing < best && (untouched || !plan.given(i))) {
        best = standing;
      }
    }
    enter(best);
    return best < LEFT_OUT;
  }

  private static int standing(RankState state) {
    if (!state.lastResort()) {
      return HEALTHY;
    }
    return state.availability() == Availability.DOWN ? DOWN : SUSPECT;
  }

  private void enter(int tier) {
    this.tier = tier;
    matchesRead = false;
    loadsRead = false;
    memberCount = 0;
    if (tier < LEFT_OUT) {
      int size = candidates().size();
      for (int i = 0; i < size; i++) {
        if (tiers[i] == tier) {
          positions[i] = memberCount;
          members[memberCount++] = i;
        }
      }
      refill();
    }
  }

  /** Puts every member that was not given back in play. */
  private void refill() {
    ChainPlan plan = plan();
    if (plan.untouched()) {
      System.arraycopy(members, 0, live, 0, memberCount);
      liveCount = memberCount;
      return;
    }
    int count = 0;
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      if (!plan.given(i)) {
        live[count++] = i;
      }
    }
    liveCount = count;
  }

  /** Goes on after a candidate was given, with what was read before; false when none is left. */
  boolean again() {
    refill();
    while (liveCount == 0 && tier < LEFT_OUT) {
      enter(tier + 1);
    }
    return tier < LEFT_OUT;
  }

  /** Lets each link narrow the field, then chance: the number of the one that is left. */
  int pick(Link[] links) {
    placedBy = null;
    placedScore = Double.NaN;
    boolean narrowed = false;
    for (Link link : links) {
      if (placedBy != null && liveCount == 1) {
        break;
      }
      if (!link.score(this)) {
        continue;
      }
      int before = liveCount;
      double lowest = keepLowest();
      boolean narrows = liveCount < before;
      if (placedBy == null || (narrows && !narrowed)) {
        placedBy = link;
        placedScore = lowest;
      }
      narrowed |= narrows;
    }
    return liveCount == 1 ? live[0] : breakTie();
  }

  private double keepLowest() {
    double lowest = Double.POSITIVE_INFINITY;
    int kept = 0;
    for (int k = 0; k < liveCount; k++) {
      int i = live[k];
      double value = score[i];
      if (value < lowest) {
        lowest = value;
        kept = 0;
      }
      if (value == lowest) {
        live[kept++] = i;
      }
    }
    // Scores that are all NaN or infinite say nothing.
    if (kept > 0) {
      liveCount = kept;
    }
    return lowest;
  }

  private int breakTie() {
    int chosen = live[0];
    long best = chance(TIES, chosen);
    for (int k = 1; k < liveCount; k++) {
      long mine = chance(TIES, live[k]);
      if (mine < best) {
        best = mine;
        chosen = live[k];
      }
    }
    return chosen;
  }

  /** A number that depends on the decision's seed, the purpose and the candidate only. */
  long chance(int purpose, int number) {
    return StableHash.mix(StableHash.mix(context().seed() + purpose) + number);
  }

  /** Reads what each member holds of the prompt, once. */
  void readMatches() {
    if (matchesRead) {
      return;
    }
    matchesRead = true;
    RouteContext context = context();
    CandidateSet candidates = context.candidates();
    int tokens = context.prompt().tokens();
    query.match(context.prompt());
    int least = memberCount == 0 ? 0 : Integer.MAX_VALUE;
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      int held = Math.max(0, Math.min(tokens, query.tokens(candidates.holderId(i))));
      matched[i] = held;
      least = Math.min(least, held);
    }
    shared = least;
  }

  /**
   * Reads the load of each member, once, and fills what is unknown from what is known of the
   * others, so that unknown is no advantage.
   */
  void readLoads() {
    if (loadsRead) {
      return;
    }
    loadsRead = true;
    RouteContext context = context();
    long now = context.nowNanos();
    long limit = context.environment().telemetryLimitNanos();
    double perToken = 1.0 / context.environment().tokensPerRequest();
    Mean others = new Mean();
    Mean queues = new Mean();
    Mean usages = new Mean();
    Mean hits = new Mean();
    Mean latencies = new Mean();
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      RankState state = state(i);
      int own = state.inFlight();
      LoadSnapshot snapshot = state.load();
      RankLoad load = snapshot != null && snapshot.ageNanos(now) <= limit ? snapshot.load() : null;
      double r = load == null ? Double.NaN : load.runningRequests();
      double w = load == null ? Double.NaN : load.waitingRequests();
      running[i] = r;
      waiting[i] = w;
      usage[i] = load == null ? Double.NaN : load.tokenUsage();
      hitRate[i] = load == null ? Double.NaN : load.cacheHitRate();
      latency[i] = state.latencyMillis();
      if (Double.isNaN(r)) {
        inFlight[i] = own + state.inFlightTokens() * perToken;
      } else {
        int unseen = state.inFlightUnseen();
        inFlight[i] = unseen + state.inFlightUnseenTokens() * perToken;
        others.add(Math.max(0, r - (own - unseen)));
      }
      queues.add(w);
      usages.add(usage[i]);
      hits.add(hitRate[i]);
      latencies.add(latency[i]);
    }
    double meanOthers = others.or(0);
    double meanQueue = queues.or(0);
    double meanUsage = usages.or(0);
    double meanHits = hits.or(0);
    double meanLatency = latencies.or(1);
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      running[i] = known(running[i], meanOthers);
      waiting[i] = known(waiting[i], meanQueue);
      usage[i] = known(usage[i], meanUsage);
      hitRate[i] = known(hitRate[i], meanHits);
      latency[i] = known(latency[i] / meanLatency, 1);
    }
  }

  private static double known(double value, double otherwise) {
    return Double.isNaN(value) ? otherwise : value;
  }

  /** The mean of what is known; the compiler takes it apart, so it is no allocation. */
  private static final class Mean {
    private double sum;
    private int count;

    void add(double value) {
      if (!Double.isNaN(value)) {
        sum += value;
        count++;
      }
    }

    double or(double otherwise) {
      return count == 0 ? otherwise : sum / count;
    }
  }

  /** Requests the engine computes; what others are likely to run there where it does not tell. */
  double running(int candidate) {
    return running[candidate];
  }

  /** Requests queued in the engine. */
  double waiting(int candidate) {
    return waiting[candidate];
  }

  /** KV token usage, 0..1. */
  double usage(int candidate) {
    return usage[candidate];
  }

  /** The engine's recent cache hit rate, 0..1. */
  double hitRate(int candidate) {
    return hitRate[candidate];
  }

  /** This client's requests there that {@link #running} does not count, weighed by their tokens. */
  double inFlight(int candidate) {
    return inFlight[candidate];
  }

  /** Time to first byte over the members' mean. */
  double latency(int candidate) {
    return latency[candidate];
  }

  /** All requests there, queued or not, seen or not. */
  double load(int candidate) {
    return running[candidate] + waiting[candidate] + inFlight[candidate];
  }

  /** Prompt tokens it holds. */
  int matched(int candidate) {
    return matched[candidate];
  }

  /** Prompt tokens it holds and not every member does. */
  int gain(int candidate) {
    return matched[candidate] - shared;
  }

  /** Prompt tokens that every member holds. */
  int shared() {
    return shared;
  }

  int liveCount() {
    return liveCount;
  }

  /** The k-th candidate in play; ascending. */
  int live(int k) {
    return live[k];
  }

  int memberCount() {
    return memberCount;
  }

  int member(int k) {
    return members[k];
  }

  /** A member's place among the members. */
  int position(int member) {
    return positions[member];
  }

  int tier() {
    return tier;
  }

  int tierOf(int candidate) {
    return tiers[candidate];
  }

  WorkerRank rank(int candidate) {
    return candidates().get(candidate);
  }

  RankState state(int candidate) {
    return Objects.requireNonNull(states[candidate]);
  }

  CandidateSet candidates() {
    return context().candidates();
  }

  RouteContext context() {
    return Objects.requireNonNull(context);
  }

  ChainPlan plan() {
    return Objects.requireNonNull(plan);
  }

  /** The link that placed what {@link #pick} gave last; null where none had an opinion. */
  @Nullable Link placedBy() {
    return placedBy;
  }

  /** That link's score for it. */
  double placedScore() {
    return placedScore;
  }

  /** Lets go of the request; the numbers stay until the next one. */
  void clear() {
    context = null;
    plan = null;
    placedBy = null;
  }

  private void grow(int size) {
    if (score.length >= size) {
      return;
    }
    int room = Math.max(16, size + (size >> 1));
    states = new RankState[room];
    tiers = new int[room];
    members = new int[room];
    positions = new int[room];
    live = new int[room];
    score = new double[room];
    extra = new double[room];
    matched = new int[room];
    running = new double[room];
    waiting = new double[room];
    usage = new double[room];
    hitRate = new double[room];
    inFlight = new double[room];
    latency = new double[room];
    Arrays.fill(tiers, LEFT_OUT);
  }
}
