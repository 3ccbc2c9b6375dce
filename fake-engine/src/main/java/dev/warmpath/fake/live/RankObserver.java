package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.ForwardPassMetrics;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sees everything that a rank publishes, in the order in which it is published.
 *
 * <p>A pass publishes admissions, cache changes, forward-pass metrics, outputs, accounting,
 * lifecycle, metrics. Admissions come when the pass begins, and with them the cache changes and
 * forward-pass metrics of an engine that shows those early (vLLM); the rest comes when the pass
 * ends. Cache changes appear once more before the lifecycle if a request had to be dropped because
 * its receiver was gone. A command between two passes publishes cache changes, its acknowledgement,
 * lifecycle, metrics. A command during a pass is acknowledged at once and publishes the rest at the
 * pass's end. Steps without content are left out. An observer hears of a step after the listeners
 * of requests and before whoever waits for an answer.
 *
 * <p>Called on the thread that runs the rank; must not block or throw. Times are milliseconds of
 * the rank's time. Lists are immutable.
 */
public interface RankObserver {
  /** Sees nothing. */
  RankObserver NONE = new RankObserver() {};

  /**
   * Requests entered the running set or lost their place in it.
   *
   * @param dpRank the data-parallel rank
   * @param timeMs when
   * @param effects {@link EngineEffect.Admitted} and {@link EngineEffect.Preempted}
   */
  default void admissions(int dpRank, double timeMs, List<EngineEffect> effects) {}

  /**
   * The prefix cache changed.
   *
   * @param events the changes, in order
   */
  default void cacheChanged(List<KvEvent> events) {}

  /**
   * A forward pass was measured.
   *
   * @param dpRank the data-parallel rank
   * @param timeMs when this became visible
   * @param metrics what the pass computes
   */
  default void forwardPass(int dpRank, double timeMs, ForwardPassMetrics metrics) {}

  /**
   * Tokens or ends of requests were delivered.
   *
   * @param dpRank the data-parallel rank
   * @param timeMs when
   * @param outputs what was delivered, in order
   */
  default void outputs(int dpRank, double timeMs, List<EngineEffect.Output> outputs) {}

  /**
   * A pass ended and was counted.
   *
   * @param dpRank the data-parallel rank
   * @param timeMs when
   * @param passes passes since the rank began
   * @param tokens tokens that this one generated
   */
  default void accounted(int dpRank, double timeMs, long passes, int tokens) {}

  /**
   * A command was answered.
   *
   * @param dpRank the data-parallel rank
   * @param timeMs when it was applied
   * @param command the command
   * @param outcome the answer, or null if it was refused
   */
  default void acknowledged(
      int dpRank, double timeMs, EngineCommand command, CommandResult.@Nullable Outcome outcome) {}

  /**
   * Handoffs made progress.
   *
   * @param dpRank the data-parallel rank
   * @param timeMs when
   * @param effects {@link EngineEffect.SourceHeld} and {@link EngineEffect.DestinationReserved}
   */
  default void lifecycle(int dpRank, double timeMs, List<EngineEffect> effects) {}

  /**
   * The state after everything before.
   *
   * @param dpRank the data-parallel rank
   * @param timeMs when
   * @param snapshot the state
   */
  default void metrics(int dpRank, double timeMs, RankSnapshot snapshot) {}

  /**
   * Lets several observers see the same rank, one after the other.
   *
   * @param observers in the order they are called
   * @return an observer that calls them all
   */
  static RankObserver all(List<? extends RankObserver> observers) {
    List<RankObserver> copy = List.copyOf(observers);
    return copy.isEmpty() ? NONE : copy.size() == 1 ? copy.get(0) : new RankObservers(copy);
  }
}
