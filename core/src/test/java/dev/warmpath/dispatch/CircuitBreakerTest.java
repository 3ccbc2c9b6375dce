package dev.warmpath.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.dispatch.CircuitBreaker.Permit;
import dev.warmpath.dispatch.CircuitBreaker.State;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
  private static final long SECOND = 1_000_000_000L;

  private final CircuitBreaker breaker =
      new CircuitBreaker(
          new BreakerSettings(
              Duration.ofSeconds(10), 3, 0.5, Duration.ofSeconds(2), Duration.ofSeconds(5), 1));

  private void fail(int times, long now) {
    for (int i = 0; i < times; i++) {
      breaker.tryAcquire(now).failed(now);
    }
  }

  @Test
  void opensAtTheFailureRateOnceThereAreEnoughFailures() {
    fail(2, 0);
    assertThat(breaker.state(0)).isEqualTo(State.CLOSED);
    fail(1, 0);
    assertThat(breaker.state(0)).isEqualTo(State.OPEN);
    assertThat(breaker.tryAcquire(0)).isNull();
  }

  @Test
  void staysClosedWhileSuccessesOutweighFailures() {
    for (int i = 0; i < 10; i++) {
      breaker.tryAcquire(0).succeeded(0);
    }
    fail(9, 0);
    assertThat(breaker.state(0)).isEqualTo(State.CLOSED);
    fail(1, 0);
    assertThat(breaker.state(0)).isEqualTo(State.OPEN);
  }

  @Test
  void forgetsFailuresThatLeaveTheWindow() {
    fail(2, 0);
    fail(1, 11 * SECOND);
    assertThat(breaker.state(11 * SECOND)).isEqualTo(State.CLOSED);
  }

  @Test
  void slidesRatherThanJumps() {
    fail(2, 9 * SECOND);
    fail(1, 12 * SECOND);
    assertThat(breaker.state(12 * SECOND)).isEqualTo(State.OPEN);
  }

  @Test
  void letsALimitedNumberOfProbesThroughAndClosesOnSuccess() {
    fail(3, 0);
    long later = 2 * SECOND;
    Permit probe = breaker.tryAcquire(later);
    assertThat(breaker.state(later)).isEqualTo(State.HALF_OPEN);
    assertThat(breaker.tryAcquire(later)).isNull();
    probe.succeeded(later);
    assertThat(breaker.state(later)).isEqualTo(State.CLOSED);
  }

  @Test
  void returnsTheProbesSlotWhateverItsOutcome() {
    fail(3, 0);
    long later = 2 * SECOND;
    for (int i = 0; i < 5; i++) {
      Permit probe = breaker.tryAcquire(later);
      assertThat(probe).isNotNull();
      probe.neutral(later);
      probe.neutral(later);
    }
    assertThat(breaker.tryAcquire(later)).isNotNull();
    assertThat(breaker.tryAcquire(later)).isNull();
  }

  @Test
  void staysOpenLongerEachTimeItsTestFailsUpToTheLimit() {
    fail(3, 0);
    long now = 2 * SECOND;
    breaker.tryAcquire(now).failed(now);
    assertThat(breaker.openUntilNanos() - now).isEqualTo(4 * SECOND);
    now += 4 * SECOND;
    breaker.tryAcquire(now).failed(now);
    assertThat(breaker.openUntilNanos() - now).isEqualTo(5 * SECOND);
  }

  @Test
  void ignoresOutcomesFromBeforeItsLastChange() {
    Permit old = breaker.tryAcquire(0);
    fail(3, 0);
    long later = 2 * SECOND;
    Permit probe = breaker.tryAcquire(later);
    old.failed(later);
    assertThat(breaker.state(later)).isEqualTo(State.HALF_OPEN);
    probe.succeeded(later);
    assertThat(breaker.state(later)).isEqualTo(State.CLOSED);
  }

  @Test
  void countsNothingOfNeutralOutcomes() {
    for (int i = 0; i < 100; i++) {
      breaker.tryAcquire(0).neutral(0);
    }
    assertThat(breaker.state(0)).isEqualTo(State.CLOSED);
  }
}
