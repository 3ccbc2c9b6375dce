package dev.warmpath.health;

import dev.warmpath.health.DegradationSettings.Rule;
import dev.warmpath.transport.RankLoad;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Works out how degraded one rank is from everything that is seen of it, and writes that into its
 * state: the only writer there. Confined to the monitor's scheduler.
 */
final class RankWatch {
  private final RankState state;
  private final Map<DegradationMode, ModeWatch> modes = new EnumMap<>(DegradationMode.class);
  private final ProgressWatch progress = new ProgressWatch();
  private final QueueGrowth growth = new QueueGrowth();
  private final FailureShare failures;
  private final SlowStart slowStart;
  private long sinceNanos;

  /**
   * Starts to watch.
   *
   * @param slowStart how the worker's recoveries went, of all its ranks and incarnations
   */
  RankWatch(RankState state, SlowStart slowStart, long nowNanos) {
    this.state = state;
    this.slowStart = slowStart;
    this.failures = new FailureShare(state, nowNanos);
    this.sinceNanos = nowNanos;
  }

  /**
   * Takes a telemetry reading.
   *
   * @param count the whole worker's counters in sum, or NaN
   * @return what was held of the rank before, if it has changed, else null
   */
  @Nullable Degradation reading(RankLoad load, double count, HealthSettings settings, long now) {
    DegradationSettings rules = settings.degradation();
    take(
        DegradationMode.STUCK,
        progress.reading(load, count, state.lastSuccessNanos(), now),
        rules,
        now);
    take(DegradationMode.KV_FULL, pressure(load), rules, now);
    Rule overload = rules.rule(DegradationMode.OVERLOADED);
    if (overload != null) {
      double most = 2 * Math.max(1, overload.enter());
      take(DegradationMode.OVERLOADED, growth.reading(load, most, now), rules, now);
    }
    return publish(rules, now);
  }

  /**
   * Lets time pass: every second, and when a request of this client has failed there.
   *
   * @param fleetMillis the median time to first byte of its like, NaN where it is unknown
   */
  @Nullable Degradation look(double fleetMillis, HealthSettings settings, long now) {
    DegradationSettings rules = settings.degradation();
    Duration believed = settings.telemetryStaleAfter();
    LoadSnapshot load = state.load();
    double age = load == null ? Double.NaN : (double) load.ageNanos(now) / believed.toNanos();
    if (!(age <= 1)) {
      take(DegradationMode.STUCK, Double.NaN, rules, now);
      take(DegradationMode.KV_FULL, Double.NaN, rules, now);
      take(DegradationMode.OVERLOADED, Double.NaN, rules, now);
    }
    take(DegradationMode.STALE, state.lastResort() ? Double.NaN : age, rules, now);
    take(DegradationMode.LATENCY, LatencyRatio.of(state, fleetMillis, now), rules, now);
    take(DegradationMode.FAILING, failures.signal(now), rules, now);
    return publish(rules, now);
  }

  /** Usage of a pool that requests wait for; where it is not told whether they do, of any pool. */
  private static double pressure(RankLoad load) {
    return load.waitingRequests() == 0 ? 0 : load.tokenUsage();
  }

  private void take(DegradationMode mode, double signal, DegradationSettings rules, long now) {
    Rule rule = rules.rule(mode);
    ModeWatch watch = modes.computeIfAbsent(mode, unused -> new ModeWatch());
    if (rule == null) {
      watch.drop();
    } else {
      watch.take(signal, rule, rules.hold().toNanos(), now);
    }
  }

  private @Nullable Degradation publish(DegradationSettings rules, long now) {
    EnumSet<DegradationMode> active = EnumSet.noneOf(DegradationMode.class);
    double share = 1;
    double affinityShare = 1;
    for (Map.Entry<DegradationMode, ModeWatch> entry : modes.entrySet()) {
      Rule rule = rules.rule(entry.getKey());
      if (rule != null && entry.getValue().active()) {
        active.add(entry.getKey());
        share = Math.min(share, rule.share());
        if (!entry.getKey().busy()) {
          affinityShare = Math.min(affinityShare, rule.share());
        }
      }
    }
    double started = slowStart.share(rules, now);
    if (started < 1) {
      active.add(DegradationMode.RECOVERING);
      share *= started;
      affinityShare *= started;
    }
    Degradation before = state.degradation();
    boolean changed = !active.equals(before.modes());
    if (changed) {
      sinceNanos = now;
    }
    if (changed || share != before.share() || affinityShare != before.affinityShare()) {
      state.degradation(new Degradation(active, share, affinityShare, sinceNanos));
    }
    return changed ? before : null;
  }
}
