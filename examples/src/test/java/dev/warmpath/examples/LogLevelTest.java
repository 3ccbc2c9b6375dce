package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.observe.LogLevel;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Over {@code java.util.logging}, which the command line logs through. */
class LogLevelTest {
  private final Level before = Logger.getLogger("dev.warmpath").getLevel();

  @AfterEach
  void restore() {
    Logger.getLogger("dev.warmpath").setLevel(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "error", "warn", "info", "debug", "trace"})
  void whatIsSetIsReadAndHoldsForEveryLoggerOfTheLibrary(String level) {
    assertThat(LogLevel.set(level.toUpperCase(java.util.Locale.ROOT))).isTrue();
    assertThat(LogLevel.current()).isEqualTo(level);
    assertThat(LoggerFactory.getLogger("dev.warmpath.health.HealthMonitor").isDebugEnabled())
        .isEqualTo(level.equals("debug") || level.equals("trace"));
  }

  @Test
  void anUnknownLevelIsRefused() {
    assertThatThrownBy(() -> LogLevel.set("loud"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("error, warn, info");
  }
}
