package dev.warmpath.policy;

import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.PrefillStatistics;
import dev.warmpath.health.RankState;

/**
 * What it costs to send a prompt to a candidate, in milliseconds: the predicted wait there, the
 * tokens to compute, and what leaving home makes others pay. The working memory of one decision at
 * a time.
 */
final class HomingCost {
  /** The share of what follows the hub that the home is expected to hold. */
  private static final double HELD_AT_HOME = 0.5;

  /** KV usage from which on an engine evicts what runs, and what that costs when it is full. */
  private static final double FULL = 0.92;

  private static final double FULL_MILLIS = 200;

  /** How much more load weighs where ranks report their caches. */
  private static final double INFORMED_LOAD = 2;

  private final PrefillQueues queues = new PrefillQueues();
  private double weight;
  private double reuse;

  /** Reads what is waiting. */
  void read(Board board, HomingSettings settings) {
    RouteContext context = board.context();
    PrefillStatistics prefills = context.environment().prefills();
    double pace =
        Double.isNaN(settings.millisPerToken())
            ? prefills.millisPerToken()
            : settings.millisPerToken();
    queues.read(context, pace, board.members(), board.memberCount());
    double load = settings.load() * (board.home().informed() ? INFORMED_LOAD : 1);
    weight = settings.prefill() + load * queues.mean() / Math.max(1, prefills.uncachedTokens());
    reuse = prefills.reuse();
  }

  /** All of it. */
  double total(Board board, HomingSettings settings, int candidate) {
    double pace = pace(board, settings, candidate);
    return queue(pace, candidate)
        + requests(settings, candidate)
        + usage(board, candidate)
        + uncached(board, pace, candidate)
        + margin(board, settings, candidate)
        + displacement(board, settings, pace, candidate);
  }

  /** Milliseconds for each uncached token there. */
  double pace(Board board, HomingSettings settings, int candidate) {
    return Double.isNaN(settings.millisPerToken())
        ? board.context().environment().prefills().millisPerToken(board.state(candidate))
        : settings.millisPerToken();
  }

  /** Waiting for the prompts that are ahead. */
  double queue(double pace, int candidate) {
    return pace * queues.tokens(candidate);
  }

  /** Sharing the engine with the requests that are there. */
  double requests(HomingSettings settings, int candidate) {
    return settings.requestMillis() * queues.requests(candidate);
  }

  /** A KV pool that is nearly full. */
  double usage(Board board, int candidate) {
    RouteContext context = board.context();
    RankState state = board.state(candidate);
    LoadSnapshot fresh =
        state.freshLoad(context.nowNanos(), context.environment().telemetryLimitNanos());
    double usage = fresh == null ? Double.NaN : fresh.load().tokenUsage();
    return usage > FULL ? (usage - FULL) / (1 - FULL) * FULL_MILLIS : 0;
  }

  /** Computing what it does not hold, priced by the fleet's load. */
  double uncached(Board board, double pace, int candidate) {
    return weight * pace * Math.max(1, tokens(board) - expected(board, candidate));
  }

  /** What must be saved to leave home at all. */
  double margin(Board board, HomingSettings settings, int candidate) {
    return away(board, candidate) ? settings.marginMillis() : 0;
  }

  /**
   * What is computed again for those who look for it at home; not where all can see where it is.
   */
  double displacement(Board board, HomingSettings settings, double pace, int candidate) {
    if (!away(board, candidate) || told(board, candidate)) {
      return 0;
    }
    int after = tokens(board) - board.home().hubTokens();
    return settings.displacement() * reuse * weight * pace * after;
  }

  private static boolean away(Board board, int candidate) {
    Home home = board.home();
    return home.rank(candidate) != 0
        && !(told(board, candidate) && board.matched(candidate) > home.hubTokens());
  }

  private static boolean told(Board board, int candidate) {
    return board.anyTold() && board.told(candidate);
  }

  private static int tokens(Board board) {
    return board.context().prompt().tokens();
  }

  /** Prompt tokens that a candidate is expected to hold. */
  double expected(Board board, int candidate) {
    Home home = board.home();
    double tokens = tokens(board);
    double held;
    if (told(board, candidate)) {
      held = board.worth(candidate);
      if (held < home.hubTokens() && home.seeded(board, candidate)) {
        held = home.hubTokens();
      }
    } else {
      double base = home.presence() * home.hubTokens();
      held = home.rank(candidate) == 0 ? base + HELD_AT_HOME * (tokens - base) : base;
    }
    if (home.replica(candidate)) {
      held = Math.max(held, home.seedTokens());
    }
    return Math.min(held, tokens);
  }
}
