package dev.warmpath.policy;

import dev.warmpath.health.Availability;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.RankState;
import dev.warmpath.index.BranchPath;
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
 * <p>Candidates stand in tiers: those believed to answer, those of them that are avoided just now
 * because they are degraded (see {@link Avoidance}), suspects, those that are down. One tier is in
 * play at a time; its <em>members</em> (given already or not) are what means and shared prefixes
 * are taken over, so that a candidate's score does not depend on which others were given.
 */
final class Board {
  static final int HEALTHY = 0;
  static final int AVOIDED = 1;
  static final int SUSPECT = 2;
  static final int DOWN = 3;
  static final int LEFT_OUT = 4;

  private static final int TIES = 0x7135;

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
  private boolean matchesKnown;
  private boolean anyLocated;
  private int[] own = {};
  private int[] matched = {};
  private double[] worth = {};
  private double shared;

  private boolean loadsRead;
  private final Loads loads = new Loads();

  private final Avoidance avoidance = new Avoidance();
  private final Home home = new Home();
  private final HomingCost homing = new HomingCost();

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
    boolean affinity = plan.policy().affinity();
    int healthy = 0;
    boolean degraded = false;
    for (int i = 0; i < size; i++) {
      RankState state = fleet.state(WorkerRank.slotOf(candidates.holderId(i)));
      int standing =
          open || filters.accept(context, candidates.get(i), state) ? standing(state) : LEFT_OUT;
      tiers[i] = standing;
      if (standing == HEALTHY) {
        members[healthy++] = i;
        degraded |= state.share(affinity) < 1;
      }
      if (standing < best && (untouched || !plan.given(i))) {
        best = standing;
      }
    }
    matchesRead = false;
    loadsRead = false;
    if (best == HEALTHY) {
      memberCount = degraded ? avoidance.part(plan, tiers, members, healthy) : healthy;
      refill();
      if (liveCount == 0 && memberCount < healthy) {
        best = AVOIDED;
      }
    }
    tier = best;
    if (best != HEALTHY) {
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
    matchesKnown = match(context);
    boolean found = context.located().found();
    anyLocated = false;
    double least = memberCount == 0 ? 0 : Double.POSITIVE_INFINITY;
    for (int k = 0; k < memberCount; k++) {
      int i = members[k];
      int predicted = matchesKnown ? predicted(context, i) : 0;
      int held = credited(i, predicted);
      own[i] = held;
      matched[i] = held;
      worth[i] = held;
      if (found) {
        joinLocated(i, predicted);
      }
      least = worth[i] < least ? worth[i] : least;
    }
    shared = least;
  }

  /**
   * Joins what was looked up with what the client guesses of a rank: blocks that both know count by
   * the tier they were told to be in, and those that only this client sent there in full.
   */
  private void joinLocated(int i, int predicted) {
    RouteContext context = context();
    long holder = context.candidates().holderId(i);
    int found = located(holder, matchesKnown);
    if (found == 0) {
      return;
    }
    anyLocated = true;
    double credit = state(i).predictions().credit();
    double told = context.located().worth(holder, context.environment().tierWeights());
    matched[i] = (int) (credit * Math.max(predicted, found));
    worth[i] = credit * (told + Math.max(0, predicted - found));
  }

  /**
   * Prompt tokens that the look-up told of a rank; none where its engine itself tells of its cache,
   * which is newer than what a store heard of it and leaves nothing to add.
   *
   * @param known whether the prompt was matched
   */
  private int located(long holder, boolean known) {
    int found = context().located().tokens(holder);
    return found > 0 && known && query.authoritative(holder) ? 0 : found;
  }

  /** Whether the look-up told anything that counts of any member; after {@link #readMatches}. */
  boolean anyLocated() {
    return anyLocated;
  }

  /** The load of each member, read once. */
  Loads loads() {
    if (!loadsRead) {
      loads.read(context(), members, memberCount);
      loadsRead = true;
    }
    return loads;
  }

  /** Working memory for a prompt's way; before a decision. */
  BranchPath path() {
    return avoidance.path();
  }

  /** Where the prompt belongs; for the link that finds it. */
  Home home() {
    return home;
  }

  /** What it would cost to send it somewhere; for that link, too. */
  HomingCost homing() {
    return homing;
  }

  /** Whether anybody but this client's own memory may tell of what ranks hold. */
  boolean anyTold() {
    return query.anyAuthoritative() || context().located().found();
  }

  /**
   * Whether what a candidate holds was told by its engine, or by whoever keeps the tiers below it;
   * after {@link #readMatches}.
   */
  boolean told(int candidate) {
    RouteContext context = context();
    long holder = context.candidates().holderId(candidate);
    return query.authoritative(holder)
        || (context.located().found() && context.located().tokens(holder) > 0);
  }

  /** Prompt tokens it holds, by whoever knows of more. */
  int matched(int candidate) {
    return matched[candidate];
  }

  /** Prompt tokens it holds by the client's own index. */
  int own(int candidate) {
    return own[candidate];
  }

  /** What it holds, in prompt tokens weighed by the tier they are in. */
  double worth(int candidate) {
    return worth[candidate];
  }

  /** Prompt tokens it is predicted to hold, whether or not the others were asked. */
  int predictedAlone(int candidate) {
    RouteContext context = context();
    boolean known = matchesRead ? matchesKnown : match(context);
    int own = known ? predicted(context, candidate) : 0;
    return Math.max(own, located(context.candidates().holderId(candidate), known));
  }

  /** A prediction, weighed by how far such ones of that candidate came true. */
  int credited(int candidate, int predicted) {
    if (predicted == 0) {
      return 0;
    }
    double credit = state(candidate).predictions().credit();
    return credit < 1 ? (int) (credit * predicted) : predicted;
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

  private int predicted(RouteContext context, int candidate) {
    int held = query.tokens(context.candidates().holderId(candidate));
    return held <= 0 ? 0 : Math.min(context.prompt().tokens(), held);
  }

  /** What it holds and not every member does, as {@link #worth}. */
  double gain(int candidate) {
    return worth[candidate] - shared;
  }

  int liveCount() {
    return liveCount;
  }

  /** The k-th candidate in play; ascending. */
  int live(int k) {
    return live[k];
  }

  /** The numbers of those in play, the first {@link #liveCount} of the array. */
  int[] live() {
    return live;
  }

  int memberCount() {
    return memberCount;
  }

  /** The numbers of the members, the first {@link #memberCount} of the array. */
  int[] members() {
    return members;
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
    own = new int[room];
    matched = new int[room];
    worth = new double[room];
    loads.grow(room);
    Arrays.fill(tiers, LEFT_OUT);
  }
}
