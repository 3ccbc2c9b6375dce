package dev.warmpath.observe;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Where the history of loads is kept, and how much of it. Immutable.
 *
 * @param file an SQLite database, made where there is none; several clients may share one
 * @param keep how long rows are kept, 7 days by default
 * @param interval between two samples of every rank, 10 s by default: 64 ranks make half a million
 *     rows a day, of about 100 bytes
 * @param batch between two writes, 30 s by default: what a process that is killed loses at most
 */
public record LoadHistorySettings(Path file, Duration keep, Duration interval, Duration batch) {
  /** The environment variable that names the file where nothing else does. */
  public static final String VARIABLE = "WARMPATH_LOADS_DB";

  /** Checks the durations. */
  public LoadHistorySettings {
    if (keep.isNegative() || keep.isZero() || interval.isNegative() || interval.isZero()) {
      throw new IllegalArgumentException("keep and interval must be longer than nothing");
    }
    if (batch.compareTo(interval) < 0) {
      throw new IllegalArgumentException("batch must not be shorter than interval");
    }
  }

  /** The defaults for a file. */
  public static LoadHistorySettings of(Path file) {
    return new LoadHistorySettings(
        file, Duration.ofDays(7), Duration.ofSeconds(10), Duration.ofSeconds(30));
  }

  /**
   * What {@link #VARIABLE} asks for.
   *
   * @param environment as {@link System#getenv()} gives it
   */
  public static Optional<LoadHistorySettings> from(Map<String, String> environment) {
    String file = environment.get(VARIABLE);
    return file == null || file.isBlank()
        ? Optional.empty()
        : Optional.of(of(Path.of(file.strip())));
  }

  /** The same for other durations. */
  public LoadHistorySettings every(Duration interval, Duration batch) {
    return new LoadHistorySettings(file, keep, interval, batch);
  }

  /** The same, kept for another time. */
  public LoadHistorySettings keep(Duration keep) {
    return new LoadHistorySettings(file, keep, interval, batch);
  }
}
