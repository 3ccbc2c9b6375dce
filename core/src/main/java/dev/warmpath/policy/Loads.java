package dev.warmpath.policy;

import dev.warmpath.health.FleetView;
import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.RankState;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.WorkerRank;

/**
 * The loads of a decision's candidates, by number. What is unknown of one is filled from what is
 * known of the others, so that unknown is no advantage. Reused; belongs to one thread at a time.
 */
final class Loads {
  private static final double UNKNOWN = Double.NaN;
  private static final RankLoad SILENT =
      new RankLoad(
          -1, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);

  private double[] running = {};
  private double[] waiting = {};
  private double[] usage = {};
  private double[] hitRate = {};
  private double[] inFlight = {};
  private double[] latency = {};

  private double perMeanLatency;

  void grow(int room) {
    running = new double[room];
    waiting = new double[room];
    usage = new double[room];
    hitRate = new double[room];
    inFlight = new double[room];
    latency = new double[room];
  }

  /** Reads those of the members. */
  void read(RouteContext context, int[] members, int count) {
    FleetView fleet = context.fleet();
    CandidateSet candidates = context.candidates();
    long now = context.nowNanos();
    long limit = context.environment().telemetryLimitNanos();
    double perToken = 1.0 / context.environment().tokensPerRequest();
    // All in local variables: this loop is most of a decision over many ranks, and each volatile
    // read makes the compiler read fields anew.
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
    int noRunning = 0;
    int noWaiting = 0;
    int noUsage = 0;
    int noHits = 0;
    int noLatency = 0;
    for (int k = 0; k < count; k++) {
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
        noRunning++;
      } else {
        int unseen = state.inFlightUnseen();
        inFlight[i] = unseen + prefill;
        double foreign = r - (own - unseen);
        others += foreign > 0 ? foreign : 0; // Math.max minds the zeros' signs, at a price
      }
      double w = load.waitingRequests();
      waiting[i] = w;
      if (Double.isNaN(w)) {
        noWaiting++;
      } else {
        queued += w;
      }
      double t = load.tokenUsage();
      usage[i] = t;
      if (Double.isNaN(t)) {
        noUsage++;
      } else {
        used += t;
      }
      double c = load.cacheHitRate();
      hitRate[i] = c;
      if (Double.isNaN(c)) {
        noHits++;
      } else {
        hits += c;
      }
      double l = state.latencyMillis();
      latency[i] = l;
      if (Double.isNaN(l)) {
        noLatency++;
      } else {
        latencies += l;
      }
    }
    fill(running, members, count, noRunning, mean(others, count - noRunning));
    fill(waiting, members, count, noWaiting, mean(queued, count - noWaiting));
    fill(usage, members, count, noUsage, mean(used, count - noUsage));
    fill(hitRate, members, count, noHits, mean(hits, count - noHits));
    double meanLatency = latencies > 0 ? latencies / (count - noLatency) : 1;
    fill(latency, members, count, noLatency, meanLatency);
    perMeanLatency = 1 / meanLatency;
  }

  private static double mean(double sum, int count) {
    return count == 0 ? 0 : sum / count;
  }

  private static void fill(double[] values, int[] members, int count, int unknown, double mean) {
    if (unknown == 0) {
      return;
    }
    for (int k = 0; k < count; k++) {
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

  /**
   * This client's requests there that {@link #running} does not count, and its tokens still to be
   * computed there.
   */
  double inFlight(int candidate) {
    return inFlight[candidate];
  }

  /** Time to first byte over the members' mean. */
  double latency(int candidate) {
    return latency[candidate] * perMeanLatency;
  }

  /** All requests there, queued or not, seen or not. */
  double total(int candidate) {
    return running[candidate] + waiting[candidate] + inFlight[candidate];
  }
}
