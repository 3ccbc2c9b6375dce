package dev.warmpath.pd;

import dev.warmpath.dispatch.Dispatcher;
import dev.warmpath.worker.Scheduler;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What all sessions of a client share.
 *
 * @param dispatcher admission, gates, budget and the fleet
 * @param selector chooses pairs
 * @param registry keeps rooms apart
 * @param scheduler time and timers
 * @param aborts sends abort calls
 * @param releases sends touches
 * @param counters figures
 * @param live sessions that last
 */
record PdShared(
    Dispatcher dispatcher,
    PdSelector selector,
    PdRegistry registry,
    Scheduler scheduler,
    AbortDesk aborts,
    ReleaseDesk releases,
    PdCounters counters,
    Set<PdConductor> live) {

  /** Nothing is out yet. */
  static PdShared of(
      Dispatcher dispatcher,
      PdSelector selector,
      RoomSource rooms,
      Scheduler scheduler,
      PdCalls calls) {
    PdCounters counters = new PdCounters();
    PdSettings settings = selector.rules().settings();
    return new PdShared(
        dispatcher,
        selector,
        new PdRegistry(rooms, settings.roomQuarantine(), settings.maxRooms()),
        scheduler,
        new AbortDesk(calls, counters, settings),
        new ReleaseDesk(calls, counters, settings.maxReleases()),
        counters,
        ConcurrentHashMap.newKeySet());
  }

  /**
   * Sets what sessions go by that begin from now on, and from now on for all the limits that they
   * share: rooms, aborts and touches.
   */
  void rules(PdRules next) {
    PdSettings settings = next.settings();
    registry.change(settings.roomQuarantine(), settings.maxRooms());
    aborts.change(settings);
    releases.change(settings.maxReleases());
    selector.rules(next);
  }

  PdStats stats() {
    return counters.stats(live.size(), registry.live(), registry.resting());
  }
}
