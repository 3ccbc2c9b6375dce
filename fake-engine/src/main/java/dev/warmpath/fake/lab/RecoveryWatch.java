package dev.warmpath.fake.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Watches a run for what incidents do to hit rates and loads, second by second. */
final class RecoveryWatch implements LabObserver {
  private static final class Second {
    private final long[] received;
    private long prompt;
    private long cached;

    Second(int workers) {
      received = new long[workers];
    }
  }

  private final List<LabIncident> incidents;
  private final int workers;
  private final List<Second> seconds = new ArrayList<>();

  /**
   * Watches nothing yet.
   *
   * @param workers how many the fleet has at most
   */
  RecoveryWatch(int workers, List<LabIncident> incidents) {
    this.workers = workers;
    this.incidents =
        incidents.stream().sorted(Comparator.comparingDouble(LabIncident::atMs)).toList();
  }

  @Override
  public void answered(LabAnswer answer) {
    int at = (int) (answer.sentMs() / 1e3);
    while (seconds.size() <= at) {
      seconds.add(new Second(workers));
    }
    Second second = seconds.get(at);
    second.received[LabFleet.number(answer.worker())]++;
    Integer prompt = answer.usage().promptTokens();
    Integer cached = answer.usage().cachedTokens();
    second.prompt += prompt == null ? 0 : prompt;
    second.cached += cached == null ? 0 : cached;
  }

  /** What came of each group of incidents. */
  List<LabRecovery> recoveries(Map<String, List<LabResult.Sample>> samples) {
    List<LabRecovery> all = new ArrayList<>();
    List<LabIncident> group = new ArrayList<>();
    for (LabIncident incident : incidents) {
      if (!group.isEmpty() && incident.atMs() - last(group).atMs() > LabRecovery.PATIENCE_S * 1e3) {
        all.add(recovery(group, samples));
        group.clear();
      }
      group.add(incident);
    }
    if (!group.isEmpty()) {
      all.add(recovery(group, samples));
    }
    return all;
  }

  private static LabIncident last(List<LabIncident> group) {
    return group.get(group.size() - 1);
  }

  private LabRecovery recovery(
      List<LabIncident> group, Map<String, List<LabResult.Sample>> samples) {
    int first = (int) Math.ceil(group.get(0).atMs() / 1e3);
    int last = (int) Math.ceil(last(group).atMs() / 1e3);
    int until = Math.min(seconds.size(), last + LabRecovery.PATIENCE_S);
    int since = Math.max(0, first - LabRecovery.BEFORE_S);
    double before = hitRate(since, Math.min(first, seconds.size()));
    double lowest = Double.NaN;
    double atLast = Double.NaN;
    int recovered = -1;
    for (int from = first; from + LabRecovery.WINDOW_S <= until; from++) {
      double rate = hitRate(from, from + LabRecovery.WINDOW_S);
      if (Double.isNaN(lowest) || rate < lowest) {
        lowest = rate;
      }
      if (from < last) {
        continue;
      }
      // Back is who was at the deepest before: not who has not felt it yet.
      if (Double.isNaN(atLast) || rate < atLast) {
        atLast = rate;
        recovered = -1;
      }
      if (recovered < 0 && rate >= before - LabRecovery.BACK) {
        recovered = from;
      }
    }
    double took =
        atLast >= before - LabRecovery.BACK
            ? 0
            : recovered < 0 ? Double.NaN : recovered + LabRecovery.WINDOW_S - last;
    return new LabRecovery(
        group,
        new LabRecovery.State(before, share(since, first), queue(samples, since, first)),
        new LabRecovery.State(lowest, share(first, until), queue(samples, first, until)),
        took);
  }

  private double hitRate(int from, int until) {
    long prompt = 0;
    long cached = 0;
    for (Second second : seconds.subList(from, Math.max(from, until))) {
      prompt += second.prompt;
      cached += second.cached;
    }
    return prompt == 0 ? Double.NaN : (double) cached / prompt;
  }

  private double share(int from, int until) {
    double most = Double.NaN;
    for (int at = from; at + LabRecovery.WINDOW_S <= Math.min(until, seconds.size()); at++) {
      long[] received = new long[workers];
      for (Second second : seconds.subList(at, at + LabRecovery.WINDOW_S)) {
        Arrays.setAll(received, i -> received[i] + second.received[i]);
      }
      double fair =
          (double) Arrays.stream(received).sum() / present((at + LabRecovery.WINDOW_S) * 1e3);
      double share = Arrays.stream(received).max().orElse(0) / fair;
      most = Double.isNaN(most) || share > most ? share : most;
    }
    return most;
  }

  /** How many workers there are for new requests. */
  private int present(double atMs) {
    int count = 0;
    for (int worker = 0; worker < workers; worker++) {
      count += present(worker, atMs) ? 1 : 0;
    }
    return count;
  }

  private boolean present(int worker, double atMs) {
    boolean listed = true;
    boolean known = false;
    boolean down = false;
    for (LabIncident incident : incidents) {
      if (incident.worker() != worker) {
        continue;
      }
      boolean past = incident.atMs() <= atMs;
      switch (incident.kind()) {
        case ADD -> listed = past || (known && listed);
        case REMOVE -> listed &= !past;
        case RESTART -> down |= past && atMs < incident.atMs() + incident.downMs();
        case FLUSH -> {}
      }
      known = true;
    }
    return listed && !down;
  }

  private static int queue(Map<String, List<LabResult.Sample>> samples, int from, int until) {
    return samples.values().stream()
        .flatMap(List::stream)
        .filter(sample -> sample.seconds() >= from && sample.seconds() < until)
        .mapToInt(LabResult.Sample::waiting)
        .max()
        .orElse(0);
  }
}
