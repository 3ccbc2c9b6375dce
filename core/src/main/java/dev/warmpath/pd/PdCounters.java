package dev.warmpath.pd;

import dev.warmpath.observe.WorkerTimes;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The figures behind {@link PdStats}. Thread safe. */
final class PdCounters {
  private final ConcurrentHashMap<String, LongAdder> sessions = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, LongAdder> failures = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, LongAdder> legs = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, LongAdder> aborts = new ConcurrentHashMap<>();
  final LongAdder attempts = new LongAdder();
  final LongAdder releases = new LongAdder();
  final LongAdder releasesDropped = new LongAdder();
  final LongAdder recomputes = new LongAdder();
  final LongAdder direct = new LongAdder();
  final WorkerTimes prefill = new WorkerTimes();
  final WorkerTimes handOff = new WorkerTimes();
  final WorkerTimes firstPayload = new WorkerTimes();

  private static void count(ConcurrentHashMap<String, LongAdder> by, String key) {
    by.computeIfAbsent(key, unused -> new LongAdder()).increment();
  }

  void session(String mode, String outcome) {
    count(sessions, mode + "/" + outcome);
  }

  void failure(String phase) {
    count(failures, phase);
  }

  void leg(String role, LegOutcome outcome) {
    count(legs, role + "/" + outcome.label());
  }

  void abort(String role, String result) {
    count(aborts, role + "/" + result);
  }

  private static Map<String, Long> sums(Map<String, LongAdder> by) {
    Map<String, Long> sums = new TreeMap<>();
    by.forEach((key, adder) -> sums.put(key, adder.sum()));
    return Map.copyOf(sums);
  }

  PdStats stats(int liveSessions, int liveRooms, int restingRooms) {
    return new PdStats(
        sums(sessions),
        sums(failures),
        attempts.sum(),
        sums(legs),
        sums(aborts),
        releases.sum(),
        releasesDropped.sum(),
        recomputes.sum(),
        direct.sum(),
        prefill.samples(),
        handOff.samples(),
        firstPayload.samples(),
        liveSessions,
        liveRooms,
        restingRooms);
  }
}
