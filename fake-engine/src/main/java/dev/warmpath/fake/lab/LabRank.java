package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.CommandListener;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** A simulated rank, and for the oracle alone a look into it. */
final class LabRank {
  private final EngineCore core;
  private final RankDrives.Drive drive;
  private final Map<Long, LabHandoff> handoffs = new HashMap<>();
  private final Set<LabExchange> underWay = new LinkedHashSet<>();
  private long pendingTokens;

  LabRank(EngineCore core, RankDrives.Drive drive) {
    this.core = core;
    this.drive = drive;
  }

  /** Begins to hear of handoffs; for a rank of a prefill or decode worker. */
  LabRank withHandoffs() {
    drive.lifecycle(effects -> effects.forEach(this::told));
    return this;
  }

  private void told(EngineEffect effect) {
    LabHandoff handoff = null;
    if (effect instanceof EngineEffect.SourceHeld held) {
      handoff = handoffs.get(held.handoffId());
    } else if (effect instanceof EngineEffect.DestinationReserved reserved) {
      handoff = handoffs.get(reserved.handoffId());
    }
    if (handoff != null) {
      handoff.told(effect);
    }
  }

  /** The handoffs that it takes part in, by number. */
  Map<Long, LabHandoff> handoffs() {
    return handoffs;
  }

  void apply(EngineCommand command, RankListener listener, CommandListener reply) {
    drive.apply(command, listener, reply);
  }

  void submit(EngineRequest request, RankListener listener) {
    drive.submit(request, listener);
  }

  void cancel(long requestId) {
    drive.cancel(requestId);
  }

  void close() {
    drive.close();
  }

  /** What its endpoints show, up to one pass old. */
  RankSnapshot snapshot() {
    return drive.snapshot();
  }

  /** Its true state. */
  CoreMetrics metrics() {
    drive.settle();
    return core.metrics();
  }

  /** Prompt tokens of a request that its cache truly holds. */
  int cachedTokens(LabRequest request) {
    drive.settle();
    return core.cachedTokens(request.forEngine(0));
  }

  /** Requests on their way here, queued or running here. */
  Set<LabExchange> underWay() {
    return underWay;
  }

  /** Prompt tokens on their way here, or queued here, that are still to be computed. */
  long pendingTokens() {
    return pendingTokens;
  }

  /** More of them, or fewer once they are computed. */
  void pending(int tokens) {
    pendingTokens += tokens;
  }
}
