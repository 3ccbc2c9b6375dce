package dev.warmpath.fake.lab;

import java.util.Objects;

/**
 * Something that happens to a worker of the fleet study under load.
 *
 * @param atMs when, in virtual milliseconds since users came
 * @param kind what
 * @param worker which, from 0
 * @param downMs for how long a restarted worker refuses connections
 */
public record LabIncident(double atMs, Kind kind, int worker, double downMs) {
  /** What happens. */
  public enum Kind {
    /** Its cache is emptied; what runs goes on. */
    FLUSH,
    /** Its process dies with all it runs, and comes back after a time with an empty cache. */
    RESTART,
    /** Clients are told to send nothing new there; what runs there goes on. */
    REMOVE,
    /** Clients are told of it again. One that is first added joins the fleet then. */
    ADD
  }

  /** Checks the ranges. */
  public LabIncident {
    Objects.requireNonNull(kind, "kind");
    if (!(atMs >= 0) || worker < 0 || !(downMs >= 0)) {
      throw new IllegalArgumentException("atMs, worker and downMs must be at least 0");
    }
  }

  /** A worker's cache is emptied. */
  public static LabIncident flush(double atMs, int worker) {
    return new LabIncident(atMs, Kind.FLUSH, worker, 0);
  }

  /** A worker dies and comes back. */
  public static LabIncident restart(double atMs, int worker, double downMs) {
    return new LabIncident(atMs, Kind.RESTART, worker, downMs);
  }

  /** A worker leaves. */
  public static LabIncident remove(double atMs, int worker) {
    return new LabIncident(atMs, Kind.REMOVE, worker, 0);
  }

  /** A worker joins. */
  public static LabIncident add(double atMs, int worker) {
    return new LabIncident(atMs, Kind.ADD, worker, 0);
  }
}
