package dev.warmpath.policy;

import dev.warmpath.health.FleetView;
import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.RankState;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.WorkerRank;

/**
 * The prompt tokens that a decision's candidates have still to compute: what the engine reports, or
 * its waiting requests at the usual number of tokens and the rest of the one before them, less what
 * it will have computed since, and never less than this client's own there; with what telemetry
 * can't know yet on top. Unknown is the mean of the others. Reused; belongs to one thread at a
 * time.
 */
final class PrefillQueues {
  private double[] tokens = {};
  private double[] requests = {};
  private double mean;

  /** Reads those of the members. */
  void read(RouteContext context, double millisPerToken, int[] members, int count) {
    FleetView fleet = context.fleet();
    CandidateSet candidates = context.candidates();
    if (tokens.length < candidates.size()) {
      grow(candidates.size());
    }
    long now = context.nowNanos();
    long limit = context.environment().telemetryLimitNanos();
    double usual = context.environment().prefills().uncachedTokens();
    double underWay = context.environment().prefills().tokensUnderWay();
    double perNano = 1e-6 / millisPerToken;
    double[] tokens = this.tokens;
    double[] requests = this.requests;
    double sum = 0;
    double all = 0;
    int known = 0;
    for (int k = 0; k < count; k++) {
      int i = members[k];
      RankState state = fleet.state(WorkerRank.slotOf(candidates.holderId(i)));
      LoadSnapshot fresh = state.freshLoad(now, limit);
      double reported = Double.NaN;
      if (fresh != null) {
        RankLoad load = fresh.load();
        double waiting = load.waitingRequests();
        double running = load.runningRequests();
        double exported = load.waitingUncachedTokens();
        reported = Double.isNaN(exported) ? backlog(waiting, usual, underWay) : exported;
        if (reported > 0) {
          reported -= fresh.ageNanos(now) * perNano;
        }
        requests[i] = running + waiting + state.inFlightUnseen();
      }
      if (Double.isNaN(reported) || Double.isNaN(requests[i])) {
        tokens[i] = Double.NaN;
        continue;
      }
      long own = state.prefillTokens();
      long unseen = own == 0 ? 0 : state.prefillTokensUnseen();
      double pending = Math.max((double) (own - unseen), reported) + unseen;
      tokens[i] = pending;
      sum += pending;
      all += requests[i];
      known++;
    }
    double others = known == 0 ? 0 : sum / known;
    if (known < count) {
      sum += fill(context, members, count, others, known == 0 ? 0 : all / known);
    }
    mean = count == 0 ? 0 : sum / count;
  }

  /** A prompt counts as running while it is computed: where others wait, there is one. */
  private static double backlog(double waiting, double usual, double underWay) {
    double tokens = waiting * usual;
    return waiting > 0 ? tokens + underWay : tokens;
  }

  private double fill(
      RouteContext context, int[] members, int count, double others, double otherRequests) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
      int i = members[k];
      if (Double.isNaN(tokens[i])) {
        int slot = WorkerRank.slotOf(context.candidates().holderId(i));
        RankState state = context.fleet().state(slot);
        tokens[i] = Math.max((double) state.prefillTokens(), others);
        requests[i] = Math.max(state.inFlight(), otherRequests);
        sum += tokens[i];
      }
    }
    return sum;
  }

  private void grow(int room) {
    tokens = new double[room];
    requests = new double[room];
  }

  /** Prompt tokens still to be computed there. */
  double tokens(int candidate) {
    return tokens[candidate];
  }

  /** Requests there, waiting or running, seen or not. */
  double requests(int candidate) {
    return requests[candidate];
  }

  /** The members' mean of {@link #tokens}. */
  double mean() {
    return mean;
  }
}
