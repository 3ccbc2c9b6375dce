package dev.warmpath.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Each backend alone on a class path of its own: SLF4J takes one of those it finds. */
class LogBackendsTest {
  private static final List<String> LEVELS =
      List.of("off", "error", "warn", "info", "debug", "trace");

  private final ClassLoader callers = Thread.currentThread().getContextClassLoader();

  @AfterEach
  void restore() {
    Thread.currentThread().setContextClassLoader(callers);
  }

  /** The library over the jars whose names begin so; nothing else is visible. */
  private static URLClassLoader over(String... jars) throws Exception {
    String folder = System.getProperty("log.backends");
    Assumptions.assumeTrue(folder != null, "log.backends names no folder: run it through Maven");
    List<URL> path = new ArrayList<>();
    for (String jar : jars) {
      try (DirectoryStream<Path> found =
          Files.newDirectoryStream(Path.of(folder), jar + "-*.jar")) {
        for (Path file : found) {
          path.add(file.toUri().toURL());
        }
      }
    }
    assertThat(path).as("jars in %s", folder).hasSameSizeAs(jars);
    for (Class<?> shared : List.of(LogLevel.class, Beside.class, LoggerFactory.class)) {
      path.add(shared.getProtectionDomain().getCodeSource().getLocation());
    }
    URLClassLoader loader =
        new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    return loader;
  }

  /** Loaded beside the library, since Log4j tells callers apart by their class loaders. */
  public static final class Beside {
    private Beside() {}

    /** Whether a logger is enabled at a level. */
    public static boolean enabled(String logger, String level) {
      return LoggerFactory.getLogger(logger)
          .isEnabledForLevel(Level.valueOf(level.toUpperCase(Locale.ROOT)));
    }
  }

  private static boolean set(ClassLoader over, String level) throws Exception {
    return (boolean) call(over, LogLevel.class, "set", level);
  }

  private static String current(ClassLoader over) throws Exception {
    return (String) call(over, LogLevel.class, "current");
  }

  private static boolean enabled(ClassLoader over, String logger, String level) throws Exception {
    return (boolean) call(over, Beside.class, "enabled", logger, level);
  }

  private static Object call(ClassLoader over, Class<?> type, String method, String... with)
      throws Exception {
    Class<?>[] types = new Class<?>[with.length];
    Arrays.fill(types, String.class);
    return over.loadClass(type.getName()).getMethod(method, types).invoke(null, (Object[]) with);
  }

  /** Every level takes effect, for loggers that were there before it too, and for no others. */
  private static void takesEveryLevel(ClassLoader over) throws Exception {
    String ours = "dev.warmpath.health.HealthMonitor";
    boolean others = enabled(over, "org.example", "debug");
    enabled(over, ours, "debug");
    for (String wanted : LEVELS) {
      assertThat(set(over, wanted)).as(wanted).isTrue();
      assertThat(current(over)).isEqualTo(wanted);
      for (String level : LEVELS.subList(1, LEVELS.size())) {
        assertThat(enabled(over, ours, level))
            .as("%s at %s", level, wanted)
            .isEqualTo(LEVELS.indexOf(level) <= LEVELS.indexOf(wanted));
      }
      assertThat(enabled(over, "org.example", "debug")).isEqualTo(others);
    }
  }

  @Test
  void logbackTakesEveryLevel() throws Exception {
    try (URLClassLoader over = over("logback-classic", "logback-core")) {
      takesEveryLevel(over);
    }
  }

  @Test
  void log4jTakesEveryLevel() throws Exception {
    try (URLClassLoader over = over("log4j-api", "log4j-core", "log4j-slf4j2-impl")) {
      takesEveryLevel(over);
      over.loadClass("org.apache.logging.log4j.LogManager").getMethod("shutdown").invoke(null);
    }
  }

  @Test
  void log4jWithoutItsCoreTakesNone() throws Exception {
    try (URLClassLoader over = over("log4j-api", "log4j-slf4j2-impl")) {
      assertThat(current(over)).isEqualTo("error");
      assertThat(set(over, "debug")).isFalse();
      assertThat(current(over)).isEqualTo("error");
    }
  }

  @Test
  void theSimpleBackendKeepsItsLevel() throws Exception {
    try (URLClassLoader over = over("slf4j-simple")) {
      assertThat(current(over)).isEqualTo("info");
      assertThat(set(over, "debug")).isFalse();
      assertThat(current(over)).isEqualTo("info");
    }
  }
}
