package dev.warmpath.fake.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {
  private final VirtualTime time = new VirtualTime(Instant.EPOCH);
  private final List<String> log = new ArrayList<>();

  private VirtualTimer at(double ms, EventKind kind, String name) {
    return time.schedule(ms, kind, () -> log.add(name + "@" + time.nowMs()));
  }

  @Test
  void eventsRunByTimeThenKindThenOrder() {
    at(2, EventKind.PASS_START, "start");
    at(2, EventKind.ARRIVAL, "arrival-a");
    at(2, EventKind.ARRIVAL, "arrival-b");
    at(2, EventKind.COMMAND, "command");
    at(2, EventKind.PASS_END, "end");
    at(2, EventKind.TRANSFER, "transfer");
    at(1.5, EventKind.PASS_START, "earlier");

    time.runUntilIdle();

    assertThat(log)
        .containsExactly(
            "earlier@1.5",
            "transfer@2.0",
            "end@2.0",
            "command@2.0",
            "arrival-a@2.0",
            "arrival-b@2.0",
            "start@2.0");
    assertThat(time.executedEvents()).isEqualTo(7);
  }

  @Test
  void timeIsNeitherRoundedNorTurnedBack() {
    at(1.0000001, EventKind.ARRIVAL, "late");
    time.runUntilIdle();
    at(0.5, EventKind.ARRIVAL, "past");
    time.runUntilIdle();

    assertThat(log).containsExactly("late@1.0000001", "past@1.0000001");
    assertThat(time.nowMs()).isEqualTo(1.0000001);
    assertThat(time.nanoTime()).isEqualTo(1_000_000L);
    assertThat(time.instant()).isEqualTo(Instant.EPOCH.plusNanos(1_000_000));
  }

  @Test
  void cancelledEventsDoNotHappen() {
    VirtualTimer timer = at(3, EventKind.ARRIVAL, "never");
    at(4, EventKind.ARRIVAL, "last");

    assertThat(timer.cancel()).isTrue();
    assertThat(timer.cancel()).isFalse();
    assertThat(time.nextEventMs()).isEqualTo(4);
    time.runUntilIdle();

    assertThat(log).containsExactly("last@4.0");
    assertThat(time.step()).isFalse();
    assertThat(time.nextEventMs()).isInfinite();
  }

  @Test
  void manyCancelledEventsLeaveTheOthersInOrder() {
    List<VirtualTimer> timers = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      timers.add(at(i, EventKind.ARRIVAL, "event" + i));
    }
    for (int i = 0; i < 5_000; i++) {
      if (i % 1_000 != 0) {
        timers.get(i).cancel();
      }
    }
    at(2_500, EventKind.ARRIVAL, "between");

    time.runUntilIdle();

    assertThat(log)
        .containsExactly(
            "event0@0.0",
            "event1000@1000.0",
            "event2000@2000.0",
            "between@2500.0",
            "event3000@3000.0",
            "event4000@4000.0");
  }

  @Test
  void runUntilIncludesItsTimeAndMovesToIt() {
    at(1, EventKind.ARRIVAL, "a");
    at(2, EventKind.ARRIVAL, "b");
    at(2.5, EventKind.ARRIVAL, "c");

    time.runUntil(2);
    assertThat(log).containsExactly("a@1.0", "b@2.0");
    time.runUntil(2.25);

    assertThat(log).hasSize(2);
    assertThat(time.nowMs()).isEqualTo(2.25);
    assertThatIllegalArgumentException().isThrownBy(() -> time.runUntil(2));
  }

  @Test
  void failingEventLeavesTheRestIntact() {
    time.schedule(
        1,
        EventKind.ARRIVAL,
        () -> {
          throw new IllegalStateException("broken");
        });
    at(2, EventKind.ARRIVAL, "next");

    assertThatThrownBy(time::runUntilIdle).hasMessage("broken");
    time.runUntilIdle();

    assertThat(log).containsExactly("next@2.0");
  }

  @Test
  void eventsNeedFiniteTimes() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> at(Double.NaN, EventKind.ARRIVAL, "never"))
        .withMessageContaining("finite");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> at(Double.POSITIVE_INFINITY, EventKind.ARRIVAL, "never"));
  }
}
