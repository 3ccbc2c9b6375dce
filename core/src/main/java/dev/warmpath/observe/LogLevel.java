package dev.warmpath.observe;

import java.util.List;
import java.util.Locale;
import java.util.logging.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The level of the library's log, read and set while it runs. It is read through SLF4J, whatever
 * stands behind it; it can be set where {@code java.util.logging} does ({@code slf4j-jdk14}). Other
 * backends have means of their own, such as a watched configuration file.
 */
public final class LogLevel {
  /** The logger above all of the library's. */
  private static final String LIBRARY = "dev.warmpath";

  private static final String JAVA_LOGGING = "org.slf4j.jul.JDK14LoggerFactory";

  /** Held, because {@code java.util.logging} forgets loggers, and their levels, that nobody has. */
  private static final java.util.logging.Logger LOGGER =
      java.util.logging.Logger.getLogger(LIBRARY);

  private static final List<String> LEVELS =
      List.of("error", "warn", "info", "debug", "trace", "off");

  private LogLevel() {}

  /** The level in force, one of those that {@link #set} takes. */
  public static String current() {
    Logger log = LoggerFactory.getLogger(LIBRARY);
    if (log.isTraceEnabled()) {
      return "trace";
    }
    if (log.isDebugEnabled()) {
      return "debug";
    }
    if (log.isInfoEnabled()) {
      return "info";
    }
    if (log.isWarnEnabled()) {
      return "warn";
    }
    return log.isErrorEnabled() ? "error" : "off";
  }

  /**
   * Sets the level of all of the library's loggers that have none of their own: {@code error},
   * {@code warn}, {@code info}, {@code debug}, {@code trace} or {@code off}. Handlers keep theirs.
   *
   * @return false where the backend does not allow it: then nothing has changed
   * @throws IllegalArgumentException naming the levels there are
   */
  public static boolean set(String level) {
    String wanted = level.toLowerCase(Locale.ROOT);
    if (!LEVELS.contains(wanted)) {
      throw new IllegalArgumentException(
          "unknown log level '" + level + "': use one of " + String.join(", ", LEVELS));
    }
    if (!LoggerFactory.getILoggerFactory().getClass().getName().equals(JAVA_LOGGING)) {
      return false;
    }
    LOGGER.setLevel(
        switch (wanted) {
          case "error" -> Level.SEVERE;
          case "warn" -> Level.WARNING;
          case "info" -> Level.INFO;
          case "debug" -> Level.FINE;
          case "trace" -> Level.FINEST;
          default -> Level.OFF;
        });
    return true;
  }
}
