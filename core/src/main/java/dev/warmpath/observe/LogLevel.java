package dev.warmpath.observe;

import java.util.List;
import java.util.Locale;
import java.util.logging.Level;
import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The level of the library's log, read and set while it runs. It is read through SLF4J, whatever
 * stands behind it; it can be set where {@code java.util.logging} ({@code slf4j-jdk14}), Logback or
 * Log4j 2 ({@code log4j-slf4j2-impl} with {@code log4j-core}) does. Others, such as {@code
 * slf4j-simple}, keep the level they start with. Logback and Log4j 2 are reached by reflection, so
 * that none of them must be there. Thread safe.
 */
public final class LogLevel {
  /** The logger above all of the library's. */
  private static final String LIBRARY = "dev.warmpath";

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
    ILoggerFactory backend = LoggerFactory.getILoggerFactory();
    try {
      switch (backend.getClass().getName()) {
        case "org.slf4j.jul.JDK14LoggerFactory" -> setJavaLogging(wanted);
        case "ch.qos.logback.classic.LoggerContext" -> setLogback(backend, wanted);
        case "org.apache.logging.slf4j.Log4jLoggerFactory" -> setLog4j(backend, wanted);
        default -> {
          return false;
        }
      }
      return true;
    } catch (ReflectiveOperationException e) {
      // Log4j's API without its core, or a version that has no such call
      return false;
    }
  }

  private static void setJavaLogging(String level) {
    LOGGER.setLevel(
        switch (level) {
          case "error" -> Level.SEVERE;
          case "warn" -> Level.WARNING;
          case "info" -> Level.INFO;
          case "debug" -> Level.FINE;
          case "trace" -> Level.FINEST;
          default -> Level.OFF;
        });
  }

  private static void setLogback(ILoggerFactory backend, String level)
      throws ReflectiveOperationException {
    Logger logger = backend.getLogger(LIBRARY);
    Class<?> type = of(backend, "ch.qos.logback.classic.Level");
    Object value = type.getMethod("toLevel", String.class).invoke(null, level);
    logger.getClass().getMethod("setLevel", type).invoke(logger, value);
  }

  private static void setLog4j(ILoggerFactory backend, String level)
      throws ReflectiveOperationException {
    of(backend, "org.apache.logging.log4j.core.config.Configurator")
        .getMethod("setLevel", String.class, String.class)
        .invoke(null, LIBRARY, level);
  }

  /** A class of the backend's, which the library's own loader need not see. */
  private static Class<?> of(ILoggerFactory backend, String name) throws ClassNotFoundException {
    return Class.forName(name, true, backend.getClass().getClassLoader());
  }
}
