package dev.warmpath.observe;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Over a backend that logs nothing and takes no level. */
class LogLevelTest {
  @Test
  void aBackendThatTakesNoLevelSaysSo() {
    assertThat(LogLevel.set("debug")).isFalse();
    assertThat(LogLevel.current()).isEqualTo("off");
  }
}
