package dev.warmpath.fake.live;

import dev.warmpath.fake.live.RankInbox.Mail;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineEffect.Kind;
import dev.warmpath.fake.scheduler.EventVisibility;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.PassResult;
import dev.warmpath.fake.scheduler.PassRun;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes what a rank's scheduler did, in the order that {@link RankObserver} states, whichever
 * time the rank lives in. Each effect is published exactly once.
 *
 * <p>Used by one thread; only {@link #snapshot} may be called from others.
 */
final class BoundaryPublisher {
  /** A snapshot and when it was taken. */
  private record Published(RankSnapshot snapshot, double timeMs) {}

  private final int dpRank;
  private final RankObserver observer;
  private final EventVisibility visibility;
  private final Map<Long, RankListener> listeners = new HashMap<>();
  private final List<EngineEffect> heldCacheChanges = new ArrayList<>();
  private final List<EngineEffect> heldLifecycle = new ArrayList<>();
  private final ThroughputWindow throughput;
  private final AtomicReference<@Nullable Consumer<List<EngineEffect>>> lifecycleOwner =
      new AtomicReference<>();
  private long nextEventId;
  private long passes;
  private volatile Published published;

  BoundaryPublisher(
      RankSettings settings, EventVisibility visibility, CoreMetrics initial, double nowMs) {
    this.dpRank = settings.dpRank();
    this.observer = settings.observer();
    this.visibility = visibility;
    this.throughput = new ThroughputWindow(nowMs);
    this.published = new Published(new RankSnapshot(initial, 0, 0), nowMs);
    observer.metrics(dpRank, nowMs, published.snapshot());
  }

  /** What was published last; without throughput if that was long ago and the rank is silent. */
  RankSnapshot snapshot(double nowMs, boolean idle) {
    Published last = published;
    RankSnapshot snapshot = last.snapshot();
    boolean silent = idle && nowMs - last.timeMs() > 2 * ThroughputWindow.WINDOW_MS;
    return silent ? new RankSnapshot(snapshot.metrics(), 0, snapshot.passes()) : snapshot;
  }

  /** Gives the lifecycle to its single owner; false if it has one. */
  boolean takeLifecycle(Consumer<List<EngineEffect>> owner) {
    return lifecycleOwner.compareAndSet(null, owner);
  }

  /** Registers who hears about a request; false if somebody does already. */
  boolean listen(long requestId, RankListener listener) {
    return listeners.putIfAbsent(requestId, listener) == null;
  }

  void forget(long requestId) {
    listeners.remove(requestId);
  }

  /** Tells a listener that nothing will follow, if it has not been told. */
  void end(long requestId) {
    RankListener listener = listeners.remove(requestId);
    if (listener != null) {
      listener.output(0, FinishReason.ABORTED);
    }
  }

  /** The requests that have not ended. */
  List<Long> unfinished() {
    return List.copyOf(listeners.keySet());
  }

  /** Publishes what shows when a pass begins. */
  void passStarted(PassResult pass) {
    passes++;
    watch(pass.during(), pass.startMs());
    admissions(pass.onStart(), pass.startMs());
    cacheChanges(pass.onStart(), pass.startMs());
    if (visibility == EventVisibility.PASS_START) {
      observer.forwardPass(dpRank, pass.startMs(), pass.forward());
    }
  }

  /**
   * Delivers a run that has ended. Only without an observer, who would have to see each pass.
   *
   * @param run the run
   * @param state the state after it
   */
  void quietPassesEnded(PassRun run, CoreMetrics state) {
    double[] ends = run.endsMs();
    int ended = run.passes();
    int tokens = run.requestIds().length;
    for (int i = 0; i < ended; i++) {
      throughput.roll(i == 0 ? run.startMs() : ends[i - 1]);
      throughput.roll(ends[i]);
      throughput.add(tokens);
      throughput.roll(ends[i]);
    }
    passes += ended;
    watch(state, ends[ended - 1]);
    for (long requestId : run.requestIds()) {
      RankListener listener = listeners.get(requestId);
      if (listener != null) {
        listener.outputs(ended, ends[0], ends[ended - 1]);
      }
    }
  }

  /** Acknowledges a command that was applied during a pass; the rest waits for the pass's end. */
  void commandDuringPass(Mail mail, CommandResult result, double nowMs) {
    for (EngineEffect effect : result.effects()) {
      if (effect.kind() == Kind.KV) {
        heldCacheChanges.add(effect);
      } else if (effect.kind() == Kind.LIFECYCLE) {
        heldLifecycle.add(effect);
      }
    }
    acknowledge(mail, result, nowMs);
  }

  /** Publishes what ended transfers changed during a pass; what it means for handoffs waits. */
  void transferDuringPass(List<EngineEffect> effects, double nowMs) {
    cacheChanges(effects, nowMs);
    heldLifecycle.addAll(of(Kind.LIFECYCLE, effects));
  }

  /**
   * Publishes the rest of a pass.
   *
   * @param pass the pass
   * @param state the state at its end
   * @param drop cancels a request whose receiver is gone
   * @param stateAfterDrops reads the state again
   * @param nowMs when it ends
   */
  void passEnded(
      PassResult pass,
      CoreMetrics state,
      LongFunction<CommandResult> drop,
      Supplier<CoreMetrics> stateAfterDrops,
      double nowMs) {
    watch(state, nowMs);
    admissions(pass.onEnd(), nowMs);
    List<EngineEffect> changes = of(Kind.KV, pass.onEnd());
    if (!heldCacheChanges.isEmpty()) {
      changes = new ArrayList<>(changes);
      changes.addAll(heldCacheChanges);
      heldCacheChanges.clear();
    }
    cacheChanges(changes, nowMs);
    if (visibility == EventVisibility.PASS_END) {
      observer.forwardPass(dpRank, nowMs, pass.forward());
    }
    List<Long> unreceived = new ArrayList<>();
    int tokens = outputs(pass.onEnd(), nowMs, unreceived);
    throughput.add(tokens);
    observer.accounted(dpRank, nowMs, passes, tokens);
    List<EngineEffect> lifecycle = new ArrayList<>(of(Kind.LIFECYCLE, pass.onEnd()));
    lifecycle.addAll(heldLifecycle);
    heldLifecycle.clear();
    CoreMetrics last = state;
    if (!unreceived.isEmpty()) {
      List<EngineEffect> cleanup = new ArrayList<>();
      for (long requestId : unreceived) {
        forget(requestId);
        cleanup.addAll(drop.apply(requestId).effects());
      }
      cacheChanges(cleanup, nowMs);
      lifecycle.addAll(of(Kind.LIFECYCLE, cleanup));
      last = stateAfterDrops.get();
    }
    lifecycle(lifecycle, nowMs);
    metrics(last, nowMs);
  }

  /** Publishes a command that was applied between two passes. */
  void commandAtBoundary(Mail mail, CommandResult result, CoreMetrics state, double nowMs) {
    admissions(result.effects(), nowMs);
    cacheChanges(result.effects(), nowMs);
    watch(state, nowMs);
    outputs(result.effects(), nowMs, null);
    acknowledge(mail, result, nowMs);
    lifecycle(of(Kind.LIFECYCLE, result.effects()), nowMs);
    metrics(state, nowMs);
  }

  /** Answers a command that can't be carried out. */
  void commandRefused(Mail mail, IllegalArgumentException reason, double nowMs) {
    observer.acknowledged(dpRank, nowMs, mail.command(), null);
    if (mail.reply() != null) {
      mail.reply().refused(reason);
    }
  }

  /** Publishes what happened between two passes without a command: transfers, reservations. */
  void progressAtBoundary(List<EngineEffect> effects, CoreMetrics state, double nowMs) {
    cacheChanges(effects, nowMs);
    lifecycle(of(Kind.LIFECYCLE, effects), nowMs);
    metrics(state, nowMs);
  }

  /** Publishes the state. */
  void metrics(CoreMetrics state, double nowMs) {
    watch(state, nowMs);
    observer.metrics(dpRank, nowMs, published.snapshot());
  }

  /** Lets the state be read, before whoever reads it is told to look. */
  private void watch(CoreMetrics state, double nowMs) {
    double tokensPerSecond = throughput.roll(nowMs);
    published = new Published(new RankSnapshot(state, tokensPerSecond, passes), nowMs);
  }

  private void admissions(List<EngineEffect> effects, double nowMs) {
    List<EngineEffect> admissions = of(Kind.ADMISSION, effects);
    if (admissions.isEmpty()) {
      return;
    }
    for (EngineEffect effect : admissions) {
      if (effect instanceof EngineEffect.Admitted admitted) {
        RankListener listener = listeners.get(admitted.requestId());
        if (listener != null) {
          listener.admitted(admitted.reusedTokens());
        }
      }
    }
    observer.admissions(dpRank, nowMs, admissions);
  }

  private void cacheChanges(List<EngineEffect> effects, double nowMs) {
    List<EngineEffect> changes = of(Kind.KV, effects);
    if (changes.isEmpty()) {
      return;
    }
    List<KvEvent> events = new ArrayList<>(changes.size());
    for (EngineEffect change : changes) {
      events.add(new KvEvent(nextEventId++, dpRank, nowMs, change));
    }
    observer.cacheChanged(List.copyOf(events));
  }

  /** Delivers outputs; returns the number of tokens, and collects those nobody receives. */
  private int outputs(List<EngineEffect> effects, double nowMs, @Nullable List<Long> unreceived) {
    List<EngineEffect.Output> outputs = new ArrayList<>();
    int tokens = 0;
    for (EngineEffect effect : effects) {
      if (!(effect instanceof EngineEffect.Output output)) {
        continue;
      }
      outputs.add(output);
      tokens += output.tokens();
      RankListener listener =
          output.finish() == null
              ? listeners.get(output.requestId())
              : listeners.remove(output.requestId());
      if (listener == null) {
        continue;
      }
      listener.output(output.tokens(), output.finish());
      if (unreceived != null && !listener.connected()) {
        unreceived.add(output.requestId());
      }
    }
    if (!outputs.isEmpty()) {
      observer.outputs(dpRank, nowMs, List.copyOf(outputs));
    }
    return tokens;
  }

  private void acknowledge(Mail mail, CommandResult result, double nowMs) {
    observer.acknowledged(dpRank, nowMs, mail.command(), result.outcome());
    if (mail.reply() != null) {
      mail.reply().answered(result);
    }
  }

  private void lifecycle(List<EngineEffect> effects, double nowMs) {
    if (effects.isEmpty()) {
      return;
    }
    List<EngineEffect> copy = List.copyOf(effects);
    observer.lifecycle(dpRank, nowMs, copy);
    Consumer<List<EngineEffect>> owner = lifecycleOwner.get();
    if (owner != null) {
      owner.accept(copy);
    }
  }

  private static List<EngineEffect> of(Kind kind, List<EngineEffect> effects) {
    List<EngineEffect> chosen = List.of();
    for (int i = 0; i < effects.size(); i++) {
      EngineEffect effect = effects.get(i);
      if (effect.kind() != kind) {
        continue;
      }
      if (chosen.isEmpty()) {
        chosen = new ArrayList<>(effects.size() - i);
      }
      chosen.add(effect);
    }
    return chosen;
  }
}
