package dev.warmpath.policy;

import dev.warmpath.worker.StableHash;
import dev.warmpath.worker.WorkerId;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Decides which policy a request goes by: the configured one, or what stands in for it while it is
 * rolled out, shadowed, on trial, or switched off. Can be changed at run time; each request goes by
 * what is set when it is decided, and its decision's policy name says so. Costs one volatile read
 * while nothing is set. Thread safe.
 */
public final class PolicySwitch {
  private static final long ROLLOUT = 0x2b1d_87c3_9e60_f54aL;
  private static final long CONTROL = 0x61f8_0d29_b47a_c315L;
  private static final long RETREAT = 0x4e93_5ab6_08d7_1fc2L;

  private final PlacedPolicy roundRobin =
      new PlacedPolicy("bypass", Policies.roundRobin(), "bypass: the policy is switched off");
  private final AffinityTrial trial = new AffinityTrial();
  private final ShadowRecord shadows = new ShadowRecord();
  private volatile State state;

  private record State(
      RolloutSettings settings,
      boolean bypassed,
      @Nullable WorkerId fallback,
      PlacedPolicy left,
      PlacedPolicy control,
      PlacedPolicy retreat) {
    static State of(RolloutSettings settings, boolean bypassed, @Nullable WorkerId fallback) {
      RoutingPolicy baseline = settings.baseline();
      return new State(
          settings,
          bypassed,
          fallback,
          new PlacedPolicy("baseline", baseline, "the policy is not rolled out to this request"),
          new PlacedPolicy("control", baseline, "the request belongs to the control group"),
          new PlacedPolicy("retreat", baseline, "affinity has made requests slower"));
    }

    boolean plain() {
      return !bypassed && settings.share() >= 1 && !settings.shadow() && settings.control() == 0;
    }
  }

  /**
   * What shadow decisions came to.
   *
   * @param decisions how many there were
   * @param agreed those in which both policies chose the same rank
   * @param wouldMatch prompt tokens that the policy's choices were believed to hold
   * @param wentMatch the same of the choices that the requests went to
   */
  public record ShadowStats(long decisions, long agreed, long wouldMatch, long wentMatch) {}

  /**
   * One shadow decision.
   *
   * @param would where the policy would have sent the request
   * @param went where it was sent first
   * @param wouldMatch prompt tokens that the former was believed to hold
   * @param wentMatch the same of the latter
   */
  public record ShadowDecision(String would, String went, int wouldMatch, int wentMatch) {}

  PolicySwitch(RolloutSettings settings) {
    this.state = State.of(settings, false, null);
  }

  /** What is set. */
  public RolloutSettings settings() {
    return state.settings();
  }

  /** Sets anew how much of the traffic the policy decides. */
  public synchronized void settings(RolloutSettings settings) {
    State now = state;
    state = State.of(settings, now.bypassed(), now.fallback());
  }

  /**
   * The kill switch: sends every request by plain round robin, whatever policy is configured, until
   * {@link #restore}.
   */
  public synchronized void roundRobin() {
    state = State.of(state.settings(), true, null);
  }

  /** Sends every request to one worker while that is known, until {@link #restore}. */
  public synchronized void fallback(WorkerId worker) {
    state = State.of(state.settings(), true, worker);
  }

  /** Lets policies decide again. */
  public synchronized void restore() {
    state = State.of(state.settings(), false, null);
  }

  /** Whether the kill switch is thrown. */
  public boolean bypassed() {
    return state.bypassed();
  }

  /** The worker that every request goes to, or null. */
  public @Nullable WorkerId fallback() {
    return state.fallback();
  }

  /** The share of conversations that affinity is left to place; 1 while nothing speaks against. */
  public double affinityWeight() {
    return trial.verdict().weight();
  }

  /** What shadow decisions came to. */
  public ShadowStats shadows() {
    return shadows.stats();
  }

  /** The last shadow decisions, oldest first; up to 256. */
  public List<ShadowDecision> lastShadows() {
    return shadows.last();
  }

  /** The policy that decides a request in place of that one; mostly that one. */
  public RoutingPolicy choose(RoutingPolicy policy, RouteContext context) {
    State now = state;
    if (now.plain()) {
      return policy;
    }
    if (now.bypassed()) {
      return roundRobin;
    }
    RolloutSettings settings = now.settings();
    long key = key(context);
    if (!within(key, ROLLOUT, settings.share())) {
      return now.left();
    }
    if (settings.shadow()) {
      return new ShadowPolicy(policy, settings.baseline(), shadows);
    }
    if (settings.control() > 0) {
      if (within(key, CONTROL, settings.control())) {
        return now.control();
      }
      if (!within(key, RETREAT, trial.verdict().weight())) {
        return now.retreat();
      }
    }
    return policy;
  }

  /**
   * Takes the time to first token of a request.
   *
   * @param by the policy that {@link #choose} gave for it
   */
  public void firstToken(RoutingPolicy by, double millis, long nowNanos) {
    State now = state;
    if (now.settings().control() == 0 || now.bypassed()) {
      return;
    }
    if (by == now.control()) {
      trial.observe(true, millis, nowNanos);
    } else if (!(by instanceof PlacedPolicy || by instanceof ShadowPolicy)) {
      trial.observe(false, millis, nowNanos);
    }
  }

  /** What is to be said of every decision, or null. */
  public @Nullable String note() {
    AffinityTrial.Verdict verdict = trial.verdict();
    return verdict.weight() >= 1
        ? null
        : String.format(
            Locale.ROOT,
            "affinity places %.0f %% of conversations: its time to first token was %.2f times the"
                + " control group's",
            100 * verdict.weight(),
            verdict.ratio());
  }

  private static long key(RouteContext context) {
    BoardPool boards = context.environment().boards();
    Board board = boards.borrow();
    try {
      long key = ConversationKey.of(context, context.candidates().workers(), board.path());
      return key == ConversationKey.NONE ? StableHash.mix(context.seed()) : key;
    } finally {
      boards.giveBack(board);
    }
  }

  private static boolean within(long key, long purpose, double share) {
    return (StableHash.mix(key ^ purpose) >>> 11) * 0x1p-53 < share;
  }
}
