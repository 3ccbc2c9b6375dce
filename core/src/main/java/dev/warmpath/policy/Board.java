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

  private static final RankLoad SILENT =
      new RankLoad(
          -1,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Double.NaN);

  private final PrefixSource.Query query;
  private final Complaint complaint;
  private @Nullable RouteContext context;
  private @Nullable ChainPlan plan;

  private int[] tiers = {};
  private int tier;
  private int[] members = {};
  private int memberCount;
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
  private double meanLatency;

  private @Nullable Link placedBy;
  private double placedScore;

  Board(PrefixSource.Query query, Complaint complaint) {
    this.query = query;
    this.complaint = complaint;
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
    int[] tiers = this.tiers;
    int[] members = this.members;
    boolean open = filters.isEmpty();
    boolean untouched = plan.untouched();
    int healthy = 0;
    for (int i = 0; i < size; i++) {
      RankState state = fleet.state(WorkerRank.slotOf(candidates.holderId(i)));
      int standing =
          open || filters.accept(context, candidates.get(i), state) ? standing(state) : LEFT_OUT;
      tiers[i] = standing;
      if (standing == HEALTHY) {
        members[healthy++] = i;
      }
      if (standing < best && (untouched || !plan.given(i))) {
        best = standing;
      }
    }
    tier = best;
    matchesRead = false;
    loadsRead = false;
    if (best == HEALTHY) {
      memberCount = healthy;
      refill();
    } else {
      enter(best);
    }
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
    boolean known = match(context);
    int least = memberCount == 0 ? 0 : Integer.MAX_VALUE;
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      int held = known ? held(context, i) : 0;
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
    // All in local variables: this loop is most of a decision over many ranks, and each volatile
    // read makes the compiler read fields anew.
    FleetView fleet = context.fleet();
    CandidateSet candidates = context.candidates();
    int[] members = this.members;
    int memberCount = this.memberCount;
    double[] running = this.running;
    double[] waiting = this.waiting;
    double[] usage = this.usage;
    double[] hitRate = this.hitRate;
    double[] inFlight = this.inFlight;
    double[] latency = this.latency;
    double others = 0;
    double queued = 0;
    double used = 0;
    double hits = 0;
    double latencies = 0;
    int knownRunning = 0;
    int knownWaiting = 0;
    int knownUsage = 0;
    int knownHits = 0;
    int knownLatencies = 0;
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      RankState state = fleet.state(WorkerRank.slotOf(candidates.holderId(i)));
      int own = state.inFlight();
      double prefill = state.prefillTokens() * perToken;
      LoadSnapshot fresh = state.freshLoad(now, limit);
      RankLoad load = fresh == null ? SILENT : fresh.load();
      double r = load.runningRequests();
      running[i] = r;
      if (Double.isNaN(r)) {
        inFlight[i] = own + prefill;
      } else {
        int unseen = state.inFlightUnseen();
        inFlight[i] = unseen + prefill;
        others += Math.max(0, r - (own - unseen));
        knownRunning++;
      }
      double w = load.waitingRequests();
      waiting[i] = w;
      if (!Double.isNaN(w)) {
        queued += w;
        knownWaiting++;
      }
      double t = load.tokenUsage();
      usage[i] = t;
      if (!Double.isNaN(t)) {
        used += t;
        knownUsage++;
      }
      double c = load.cacheHitRate();
      hitRate[i] = c;
      if (!Double.isNaN(c)) {
        hits += c;
        knownHits++;
      }
      double l = state.latencyMillis();
      latency[i] = l;
      if (!Double.isNaN(l)) {
        latencies += l;
        knownLatencies++;
      }
    }
    fill(running, knownRunning, mean(others, knownRunning));
    fill(waiting, knownWaiting, mean(queued, knownWaiting));
    fill(usage, knownUsage, mean(used, knownUsage));
    fill(hitRate, knownHits, mean(hits, knownHits));
    meanLatency = latencies > 0 ? latencies / knownLatencies : 1;
    fill(latency, knownLatencies, meanLatency);
  }

  private static double mean(double sum, int count) {
    return count == 0 ? 0 : sum / count;
  }

  /** Puts a mean in place of what is unknown. */
  private void fill(double[] values, int known, double mean) {
    if (known == memberCount) {
      return;
    }
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      if (Double.isNaN(values[i])) {
        values[i] = mean;
      }
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
    return latency[candidate] / meanLatency;
  }

  /** All requests there, queued or not, seen or not. */
  double load(int candidate) {
    return running[candidate] + waiting[candidate] + inFlight[candidate];
  }

  /** Prompt tokens it holds. */
  int matched(int candidate) {
    return matched[candidate];
  }

  /** Prompt tokens it holds, whether or not the others were asked. */
  int matchedAlone(int candidate) {
    if (matchesRead) {
      return matched[candidate];
    }
    RouteContext context = context();
    return match(context) ? held(context, candidate) : 0;
  }

  private boolean match(RouteContext context) {
    try {
      query.match(context.prompt());
      return true;
    } catch (RuntimeException e) {
      complaint.about("The prefix source failed: requests are routed without it", e);
      return false;
    }
  }

  private int held(RouteContext context, int candidate) {
    int held = query.tokens(context.candidates().holderId(candidate));
    return Math.max(0, Math.min(context.prompt().tokens(), held));
  }

  /** Prompt tokens it holds and not every member does. */
  int gain(int candidate) {
    return matched[candidate] - shared;
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
    // Looked up again rather than kept: a reference stored in a long-lived array costs the
    // collector's
    // barrier.
    RouteContext context = context();
    return context.fleet().state(WorkerRank.slotOf(context.candidates().holderId(candidate)));
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
    tiers = new int[room];
    members = new int[room];
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
