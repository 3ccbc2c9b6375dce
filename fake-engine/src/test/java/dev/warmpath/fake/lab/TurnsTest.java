package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.fake.virtual.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private final VirtualTime time = new VirtualTime();
  private final Turns turns = new Turns();
  private final LabClock clock = new LabClock(time, turns);
  private final List<String> log = new ArrayList<>();

  private void run() {
    while (time.step()) {
      clock.wakeLatchWaits();
    }
  }

  @Test
  void threadsTakeTurnsInTheOrderOfTheirTimes() {
    turns.start(
        () -> {
          log.add("a begins");
          clock.sleepUntil(10);
          log.add("a at " + time.nowMs());
          clock.sleepUntil(30);
          log.add("a ends");
        });
    turns.start(
        () -> {
          log.add("b begins");
          clock.sleepUntil(20);
          log.add("b ends at " + time.nowMs());
        });
    log.add("both wait");
    run();
    turns.close();

    assertThat(log)
        .containsExactly(
            "a begins", "b begins", "both wait", "a at 10.0", "b ends at 20.0", "a ends");
  }

  @Test
  void aLatchEndsAWaitAtTheTimeItIsCountedDown() {
    CountDownLatch latch = new CountDownLatch(1);
    turns.start(
        () -> {
          boolean down = clock.await(latch, Duration.ofMillis(100).toNanos());
          log.add(down + " at " + time.nowMs());
        });
    turns.start(
        () -> {
          clock.sleepUntil(40);
          latch.countDown();
        });
    run();
    turns.close();

    assertThat(log).containsExactly("true at 40.0");
  }

  @Test
  void aWaitEndsWithoutItsLatchWhenItsTimeIsOver() {
    turns.start(
        () -> {
          boolean down = clock.await(new CountDownLatch(1), Duration.ofMillis(5).toNanos());
          log.add(down + " at " + time.nowMs());
        });
    run();
    turns.close();

    assertThat(log).containsExactly("false at 5.0");
  }

  @Test
  void whatATaskThrowsReachesTheClocksThread() {
    IllegalArgumentException thrown = new IllegalArgumentException("mine");

    assertThatThrownBy(
            () ->
                turns.start(
                    () -> {
                      throw thrown;
                    }))
        .hasCause(thrown);
    turns.close();
  }

  @Test
  void closingUnwindsThoseThatWait() {
    turns.start(
        () -> {
          try {
            clock.sleepUntil(1_000);
            log.add("never");
          } finally {
            log.add("unwound");
          }
        });
    turns.close();

    assertThat(log).containsExactly("unwound");
  }

  @Test
  void onlyTheRunsOwnThreadsMayWait() {
    assertThatThrownBy(() -> clock.sleepUntil(1)).isInstanceOf(IllegalStateException.class);
    turns.close();
  }

  @Test
  void threadsAreUsedAgain() {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      turns.start(() -> threads.add(Thread.currentThread()));
    }
    turns.close();

    assertThat(threads.stream().distinct()).hasSize(1);
  }
}
