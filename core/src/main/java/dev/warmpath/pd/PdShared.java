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
 * @param settings limits
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
    PdSettings settings,
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
      PdSettings settings,
      Scheduler scheduler,
      PdCalls calls) {
    PdCounters counters = new PdCounters();
    return new PdShared(
        dispatcher,
        selector,
        new PdRegistry(rooms, settings.roomQuarantine(), settings.maxRooms()),
        settings,
        scheduler,
        new AbortDesk(calls, counters, settings),
        new ReleaseDesk(calls, counters, settings.maxReleases()),
        counters,
        ConcurrentHashMap.newKeySet());
  }

  PdStats stats() {
    return counters.stats(live.size(), registry.live(), registry.resting());
  }
}
