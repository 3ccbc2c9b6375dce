package dev.warmpath.health;

import dev.warmpath.transport.LoadReport;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks for signs that a worker has restarted since it was last seen. Not thread safe.
 *
 * <p>An incarnation value that changed, or a counter that ran backwards, proves it. Connections
 * refused twice in a row or more, and then an answer, make it likely: then an incarnation value
 * that is still the same clears the worker (the network was away, not the engine), and without one
 * it counts as restarted, because a forgotten index costs some prefills and a stale one costs them
 * too and herds requests where nothing is.
 *
 * <p>A value that comes back after another had taken its place is no restart, since no process
 * comes back: several processes answer at that address, and none of their values says anything from
 * then on.
 *
 * <p>Probes and load reports may offer values of different kinds, and a load report's depend on the
 * endpoint that gave it: each is compared with its own like.
 */
final class RestartWatch {
  private static final int REFUSALS_TO_SUSPECT = 2;

  private static final int VALUES_REMEMBERED = 8;

  private final Set<String> past = new LinkedHashSet<>();
  private @Nullable String probeIncarnation;
  private @Nullable String loadSource;
  private @Nullable String loadIncarnation;
  private boolean mixed;
  private double loadCount = Double.NaN;
  private int refusals;

  /** Takes a refused connection. */
  void refused() {
    refusals++;
  }

  /** Takes an answer of any kind; says whether it makes a restart likely. */
  boolean answered() {
    boolean likely = refusals >= REFUSALS_TO_SUSPECT;
    refusals = 0;
    return likely;
  }

  /** Whether load reports carry an incarnation value. */
  boolean loadsTell() {
    return loadIncarnation != null;
  }

  /** Compares a probe's incarnation value with the last one, and keeps it. */
  Sign probe(@Nullable String incarnation) {
    Sign sign = compare(probeIncarnation, incarnation);
    if (incarnation != null) {
      probeIncarnation = incarnation;
    }
    return sign;
  }

  /** Compares a load report with the last one of its source, and keeps it. */
  Sign load(LoadReport report) {
    if (!report.source().equals(loadSource)) {
      loadSource = report.source();
      loadIncarnation = null;
      loadCount = Double.NaN;
    }
    Sign sign = compare(loadIncarnation, report.incarnation());
    if (sign == Sign.NONE && report.monotonicCount() < loadCount) {
      sign = Sign.COUNTER_RAN_BACKWARDS;
    }
    if (report.incarnation() != null) {
      loadIncarnation = report.incarnation();
    }
    if (!Double.isNaN(report.monotonicCount())) {
      loadCount = report.monotonicCount();
    }
    return sign;
  }

  private Sign compare(@Nullable String before, @Nullable String after) {
    if (mixed || after == null) {
      return Sign.NONE;
    }
    if (past.contains(after)) {
      mixed = true;
      return Sign.MIXED;
    }
    if (before == null) {
      return Sign.NONE;
    }
    if (before.equals(after)) {
      return Sign.SAME;
    }
    past.add(before);
    if (past.size() > VALUES_REMEMBERED) {
      past.remove(past.iterator().next());
    }
    return Sign.INCARNATION_CHANGED;
  }

  /**
   * Begins anew after a restart.
   *
   * @param incarnation the value that the new incarnation's probe gave, or null
   */
  void restarted(@Nullable String incarnation) {
    forget();
    probeIncarnation = incarnation;
  }

  private void forget() {
    probeIncarnation = null;
    loadSource = null;
    loadIncarnation = null;
    loadCount = Double.NaN;
    refusals = 0;
  }

  /** What a comparison says. */
  enum Sign {
    /** Nothing. */
    NONE("", false),
    /** It is the same incarnation. */
    SAME("", false),
    /** Several processes take turns. */
    MIXED("", false),
    /** It is another incarnation. */
    INCARNATION_CHANGED("its incarnation value changed", true),
    /** It is another incarnation. */
    COUNTER_RAN_BACKWARDS("its counters ran backwards", true);

    final String reason;
    final boolean restarted;

    Sign(String reason, boolean restarted) {
      this.reason = reason;
      this.restarted = restarted;
    }
  }
}
