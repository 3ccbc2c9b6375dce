package dev.warmpath.examples;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits for what is nearly there: the tests over sockets have many of them each. */
final class Soon {
  private Soon() {}

  /** A wait that looks at once and often. */
  static ConditionFactory await() {
    return Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5));
  }
}
