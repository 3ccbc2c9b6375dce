package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The limits that sessions share are changed while they are at work. */
class PdLimitsChangeTest {
  private static final String DECODE = "http://d0:1;role=decode;model=m;engine=atom";

  private static PdFixture fixture() {
    return new PdFixture(1, PdSettings.DEFAULT, (request, done) -> done.accept(true), DECODE);
  }

  @Test
  void roomsInQuarantineStayAsLongAsToldAndTheLimitHoldsForThemToo() {
    PdRegistry registry =
        new PdRegistry(new RoomSource(new Random(1)::nextLong, 1), Duration.ofNanos(100), 10);
    for (int i = 0; i < 8; i++) {
      registry.retire(registry.mint(1_000_000, -1, 1, 0), 0);
    }
    registry.change(Duration.ofNanos(10), 4);
    assertThat(registry.resting()).isEqualTo(8);
    registry.retire(registry.mint(1_000_000, -1, 1, 50), 50);
    assertThat(registry.resting()).isEqualTo(4);
    long later = registry.mint(1_000_000, -1, 1, 99);
    assertThat(registry.resting()).as("of the old quarantine").isEqualTo(4);
    registry.change(Duration.ZERO, 4);
    registry.retire(later, 100);
    assertThat(registry.resting()).isZero();
    assertThat(registry.live()).isZero();
  }

  @Test
  void abortsGoByTheNewLimitAndTimeout() {
    List<OutboundRequest> sent = new ArrayList<>();
    AbortDesk desk =
        new AbortDesk(
            (request, done) -> {
              sent.add(request);
              done.accept(true);
            },
            new PdCounters(),
            PdSettings.DEFAULT);
    try (PdFixture fixture = fixture()) {
      WorkerRank worker = fixture.registry.current().ranks().get(0);
      for (int i = 0; i < 200; i++) {
        desk.abort(WorkerRole.DECODE, worker, "a" + i, 0);
      }
      assertThat(sent).hasSize(100);
      PdSettings all = PdSettings.DEFAULT;
      PdTimeouts times = all.timeouts();
      desk.change(
          new PdSettings(
              new PdTimeouts(
                  times.prefill(),
                  times.rendezvous(),
                  times.grace(),
                  times.handOff(),
                  times.firstPayload(),
                  times.idle(),
                  times.drain(),
                  times.settle(),
                  times.release(),
                  Duration.ofMillis(7)),
              all.strict(),
              all.directBelowTokens(),
              all.pairsFirst(),
              all.maxAttempts(),
              all.roomQuarantine(),
              all.maxRooms(),
              2,
              all.maxReleases()));
      for (int i = 0; i < 200; i++) {
        desk.abort(WorkerRole.DECODE, worker, "b" + i, Duration.ofSeconds(1).toNanos());
      }
      assertThat(sent).hasSize(102);
      assertThat(sent.get(101).timeouts().connect()).isEqualTo(Duration.ofMillis(7));
    }
  }

  @Test
  void moreTouchesGoOutAtOnceWhereMoreMayAndNoneIsCalledBack() {
    List<Consumer<Boolean>> out = new ArrayList<>();
    ReleaseDesk desk = new ReleaseDesk((request, done) -> out.add(done), new PdCounters(), 1);
    try (PdFixture fixture = fixture()) {
      OutboundRequest touch = fixture.touch();
      for (int i = 0; i < 6; i++) {
        desk.touch(touch, () -> {});
      }
      assertThat(out).hasSize(1);
      desk.change(4);
      assertThat(out).hasSize(4);
      desk.change(1);
      out.get(0).accept(true);
      out.get(1).accept(true);
      out.get(2).accept(true);
      assertThat(out).as("one is out still").hasSize(4);
      out.get(3).accept(true);
      assertThat(out).hasSize(5);
      out.get(4).accept(true);
      out.get(5).accept(true);
      assertThat(out).hasSize(6);
    }
  }
}
