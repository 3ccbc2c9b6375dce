package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.ForwardPassMetrics;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Several observers as one. */
record RankObservers(List<RankObserver> observers) implements RankObserver {
  @Override
  public void admissions(int dpRank, double timeMs, List<EngineEffect> effects) {
    observers.forEach(observer -> observer.admissions(dpRank, timeMs, effects));
  }

  @Override
  public void cacheChanged(List<KvEvent> events) {
    observers.forEach(observer -> observer.cacheChanged(events));
  }

  @Override
  public void forwardPass(int dpRank, double timeMs, ForwardPassMetrics metrics) {
    observers.forEach(observer -> observer.forwardPass(dpRank, timeMs, metrics));
  }

  @Override
  public void outputs(int dpRank, double timeMs, List<EngineEffect.Output> outputs) {
    observers.forEach(observer -> observer.outputs(dpRank, timeMs, outputs));
  }

  @Override
  public void accounted(int dpRank, double timeMs, long passes, int tokens) {
    observers.forEach(observer -> observer.accounted(dpRank, timeMs, passes, tokens));
  }

  @Override
  public void acknowledged(
      int dpRank, double timeMs, EngineCommand command, CommandResult.@Nullable Outcome outcome) {
    observers.forEach(observer -> observer.acknowledged(dpRank, timeMs, command, outcome));
  }

  @Override
  public void lifecycle(int dpRank, double timeMs, List<EngineEffect> effects) {
    observers.forEach(observer -> observer.lifecycle(dpRank, timeMs, effects));
  }

  @Override
  public void metrics(int dpRank, double timeMs, RankSnapshot snapshot) {
    observers.forEach(observer -> observer.metrics(dpRank, timeMs, snapshot));
  }
}
