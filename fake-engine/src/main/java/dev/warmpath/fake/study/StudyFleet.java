package dev.warmpath.fake.study;

import dev.warmpath.fake.virtual.VirtualTime;
import java.util.ArrayList;
import java.util.List;

/** The workers of a run, and what can be known of them all at once. */
final class StudyFleet {
  private final VirtualTime time;
  private final List<StudyWorker> workers = new ArrayList<>();
  private final List<LoadHistory> histories = new ArrayList<>();
  private final EventIndex events;

  private final long[] onTheWay;

  StudyFleet(StudySettings settings, VirtualTime time, int blockTokens) {
    this.time = time;
    this.events = new EventIndex(settings.workers(), settings.eventDelayMs());
    this.onTheWay = new long[settings.workers()];
    for (int i = 0; i < settings.workers(); i++) {
      LoadHistory history = new LoadHistory();
      histories.add(history);
      workers.add(
          new StudyWorker(time, settings.cacheTokens(), blockTokens, events.of(i, time), history));
    }
  }

  int size() {
    return workers.size();
  }

  double nowMs() {
    return time.nowMs();
  }

  StudyWorker worker(int index) {
    return workers.get(index);
  }

  LoadHistory history(int index) {
    return histories.get(index);
  }

  /** What subscribers to the workers' cache events know. */
  EventIndex events() {
    return events;
  }

  /** Uncached prompt tokens that have been sent to a worker and not arrived. */
  long onTheWay(int worker) {
    return onTheWay[worker];
  }

  void onTheWay(int worker, long tokens) {
    onTheWay[worker] += tokens;
  }
}
