package dev.warmpath.health;

import static dev.warmpath.health.FakeTransport.load;
import static dev.warmpath.health.MonitorFixture.A;
import static dev.warmpath.health.MonitorFixture.B;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.RouterClosedException;
import dev.warmpath.health.FakeTransport.FakeWorker;
import dev.warmpath.health.FakeTransport.Mode;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HealthMonitorTest {
  private final MonitorFixture fixture = new MonitorFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  private static List<Duration> gaps(List<Long> times) {
    List<Duration> gaps = new java.util.ArrayList<>();
    for (int i = 1; i < times.size(); i++) {
      gaps.add(Duration.ofNanos(times.get(i) - times.get(i - 1)));
    }
    return gaps;
  }

  @Nested
  class Health {
    @Test
    void theFirstPassBringsAWorkerUp() {
      FakeWorker a = fixture.add(A);
      assertThat(fixture.availability(A)).isEqualTo(Availability.UNKNOWN);
      fixture.advance(ofMillis(10));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(fixture.worker(A).engine()).isEqualTo(a.engine);
      assertThat(fixture.state(A).load()).isNotNull();
    }

    @Test
    void theFirstPassBringsAWorkerUpEvenAfterFailures() {
      FakeWorker a = fixture.add(A);
      a.all(Mode.REFUSE);
      fixture.addUp(B);
      fixture.advance(ofSeconds(60));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
      a.all(Mode.OK);
      fixture.advance(ofSeconds(12));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(fixture.transport.calls("health", A).size()).isGreaterThan(2);
    }

    @ParameterizedTest
    @EnumSource(names = {"REFUSE", "UNHEALTHY", "TIME_OUT", "RESET"})
    void oneFailureIsAnAccidentTwoAreNot(Mode mode) {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      fixture.transport.forgetCalls();
      a.health = mode;
      while (fixture.transport.calls("health", A).isEmpty()) {
        fixture.advance(ofMillis(1));
      }
      fixture.advance(ofMillis(2));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      while (fixture.transport.calls("health", A).size() < 2) {
        fixture.advance(ofMillis(1));
      }
      fixture.advance(ofMillis(2));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
    }

    @Test
    void aTransportsBugSaysNothingOfTheWorker() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.all(Mode.THROW);
      fixture.transport.forgetCalls();
      fixture.advance(ofMinutes(5));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(fixture.transport.calls("health", A)).hasSizeGreaterThan(20);
      assertThat(fixture.view(A).detail()).contains("transport");
    }

    @Test
    void threePassesBringAWorkerBack() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.health = Mode.UNHEALTHY;
      fixture.advance(ofSeconds(30));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
      a.health = Mode.OK;
      fixture.transport.forgetCalls();
      for (int pass = 1; pass <= 3; pass++) {
        assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
        while (fixture.transport.calls("health", A).size() < pass) {
          fixture.advance(ofMillis(1));
        }
        fixture.advance(ofMillis(2));
      }
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(fixture.changes)
          .filteredOn(change -> change.worker().id().equals(WorkerId.parse(A)))
          .extracting(HealthListener.AvailabilityChange::after)
          .containsExactly(Availability.UP, Availability.DOWN, Availability.UP);
    }

    @Test
    void aWorkerThatPassesAndFailsInTurnStaysDown() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.health = Mode.UNHEALTHY;
      fixture.advance(ofSeconds(30));
      int changes = fixture.changes.size();
      for (int probe = 0; probe < 50; probe++) {
        a.health = probe % 3 == 2 ? Mode.UNHEALTHY : Mode.OK;
        int seen = fixture.transport.calls("health", A).size();
        while (fixture.transport.calls("health", A).size() == seen) {
          fixture.advance(ofMillis(10));
        }
        assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
      }
      assertThat(fixture.changes).hasSize(changes);
    }

    @Test
    void aSuccessfulRequestBringsAWorkerUpAtOnce() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.health = Mode.UNHEALTHY;
      fixture.advance(ofSeconds(30));
      fixture.state(A).succeeded(5, fixture.time.nanoTime());
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      fixture.time.run();
      assertThat(fixture.changes.get(fixture.changes.size() - 1).after())
          .isEqualTo(Availability.UP);
      assertThat(fixture.view(A).availability()).isEqualTo(Availability.UP);
      // It takes two fresh failures to bring it down again.
      fixture.transport.forgetCalls();
      while (fixture.transport.calls("health", A).size() < 2) {
        assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
        fixture.advance(ofMillis(1));
      }
      fixture.advance(ofMillis(2));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
    }

    @Test
    void successfulRequestsMakeProbesUnnecessary() {
      fixture.addUp(A);
      fixture.transport.forgetCalls();
      for (int second = 0; second < 300; second++) {
        fixture.state(A).succeeded(5, fixture.time.nanoTime());
        fixture.advance(ofSeconds(1));
      }
      assertThat(fixture.transport.calls("health", A)).isEmpty();
      fixture.advance(ofSeconds(12));
      assertThat(fixture.transport.calls("health", A)).hasSize(1);
    }

    @Test
    void aFailureIsForgivenIfARequestSucceededWhileItWasAsked() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.health = Mode.UNHEALTHY;
      a.duringCall = () -> fixture.state(A).succeeded(5, fixture.time.nanoTime());
      fixture.advance(ofMinutes(10));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      a.duringCall = () -> {};
      fixture.advance(ofMinutes(1));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
    }

    @Test
    void silenceIsForgivenWhileRequestsHaveSucceededLately() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      fixture.state(A).succeeded(5, fixture.time.nanoTime());
      a.health = Mode.TIME_OUT;
      fixture.advance(ofSeconds(59));
      assertThat(fixture.transport.calls("health", A)).hasSizeGreaterThan(3);
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      fixture.advance(ofSeconds(30));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
    }

    @Test
    void refusalsAreNotForgivenByOldSuccesses() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      fixture.advance(ofSeconds(9));
      fixture.state(A).succeeded(5, fixture.time.nanoTime());
      fixture.advance(ofMillis(1));
      a.health = Mode.REFUSE;
      fixture.advance(ofSeconds(14));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
    }

    @Test
    void aStreamThatFlowsIsProofOfLife() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.health = Mode.TIME_OUT;
      for (int second = 0; second < 120; second++) {
        fixture.state(A).alive(fixture.time.nanoTime());
        fixture.advance(ofSeconds(1));
      }
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(fixture.state(A).latencyMillis()).isNaN();
    }

    @Test
    void aRequestProvesAWorkerThatWasNeverProbed() {
      FakeWorker a = fixture.add(A);
      a.all(Mode.THROW);
      CompletableFuture<Void> ready = fixture.monitor.whenReady();
      fixture.state(A).succeeded(5, fixture.time.nanoTime());
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      fixture.time.run();
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(ready).isCompleted();
    }

    @Test
    void theLastWorkerIsNeverDown() {
      FakeWorker a = fixture.addUp(A);
      a.all(Mode.REFUSE);
      fixture.advance(ofMinutes(1));
      assertThat(fixture.availability(A)).isEqualTo(Availability.SUSPECT);
      assertThat(fixture.state(A).lastResort()).isTrue();
      // Somebody else can do its work: now it is down.
      fixture.addUp(B);
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
      // And when that one leaves, it is the last again.
      fixture.registry.remove(WorkerId.parse(B));
      fixture.advance(ofMillis(1));
      assertThat(fixture.availability(A)).isEqualTo(Availability.SUSPECT);
    }

    @Test
    void aFleetThatFailsTogetherIsSuspectTogether() {
      List<String> addresses = List.of(A, B, "http://c:1", "http://d:1");
      addresses.forEach(fixture::addUp);
      addresses.forEach(address -> fixture.transport.worker(address).all(Mode.REFUSE));
      fixture.advance(ofMinutes(1));
      assertThat(addresses)
          .allSatisfy(
              address -> assertThat(fixture.availability(address)).isEqualTo(Availability.SUSPECT));
    }

    @Test
    void probesKeepTheirDistance() {
      FakeWorker a = fixture.addUp(A);
      a.engine = EngineKind.SGLANG;
      fixture.advance(ofMinutes(30));
      List<Duration> gaps = gaps(fixture.transport.calls("health", A));
      assertThat(gaps).hasSizeGreaterThan(150);
      assertThat(gaps).allMatch(gap -> gap.compareTo(ofSeconds(10)) >= 0);
      assertThat(gaps).allMatch(gap -> gap.compareTo(ofMillis(11_010)) <= 0);
    }

    @Test
    void anSglangWorkerThatAnswersIsNeverProbedMoreOftenThanEveryTenSeconds() {
      fixture.monitor.reconfigure(
          HealthSettings.builder()
              .probeInterval(ofSeconds(1))
              .recheckInterval(ofMillis(100))
              .build());
      FakeWorker a = fixture.transport.worker(A);
      a.engine = EngineKind.SGLANG;
      fixture.addUp(B);
      fixture.addUp(A);
      for (Mode mode : List.of(Mode.OK, Mode.UNHEALTHY, Mode.TIME_OUT, Mode.RESET, Mode.OK)) {
        a.health = mode;
        for (int i = 0; i < 60; i++) {
          fixture.monitor.checkSoon(WorkerId.parse(A));
          fixture.advance(ofSeconds(1));
        }
      }
      assertThat(gaps(fixture.transport.calls("health", A)))
          .hasSizeGreaterThan(25)
          .allMatch(gap -> gap.compareTo(ofSeconds(10)) >= 0);
      // The other engine's workers answer from memory and are asked as configured.
      assertThat(fixture.transport.calls("health", B)).hasSizeGreaterThan(250);
    }

    @Test
    void aRefusedWorkerIsLookedAtSoonThenEverMoreRarely() {
      FakeWorker a = fixture.addUp(A);
      a.engine = EngineKind.SGLANG;
      a.all(Mode.REFUSE);
      fixture.transport.forgetCalls();
      fixture.advance(ofMinutes(2));
      List<Duration> gaps = gaps(fixture.transport.calls("health", A));
      assertThat(gaps.subList(0, 6).stream().map(Duration::toSeconds))
          .containsExactly(1L, 2L, 4L, 8L, 10L, 10L);
      // Nothing else is asked of it once it is held for down.
      fixture.transport.forgetCalls();
      fixture.advance(ofMinutes(10));
      assertThat(fixture.transport.calls("load", A)).isEmpty();
      assertThat(fixture.transport.calls("probe", A)).isEmpty();
    }

    @Test
    void aFailedConnectionBringsTheNextProbeForward() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.all(Mode.REFUSE);
      fixture.advance(ofSeconds(1));
      fixture.monitor.checkSoon(WorkerId.parse(A));
      fixture.monitor.checkSoon(WorkerId.parse("http://nobody:1"));
      fixture.advance(ofSeconds(3));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
    }

    @Test
    void aRefusedLoadPollBringsTheNextProbeForwardButDoesNotCount() {
      fixture.addUp(B);
      FakeWorker a = fixture.addUp(A);
      a.load = Mode.REFUSE;
      fixture.advance(ofMinutes(5));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      a.health = Mode.REFUSE;
      fixture.advance(ofSeconds(8));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
    }

    @Test
    void aChangedSpecIsLookedAtAtOnce() {
      fixture.addUp(A);
      fixture.transport.forgetCalls();
      fixture.registry.add(WorkerSpec.builder(A).apiKey(Secret.of("k")).build());
      fixture.advance(ofMillis(10));
      assertThat(fixture.transport.calls("probe", A)).hasSize(1);
      assertThat(fixture.transport.calls("health", A)).hasSize(1);
      assertThat(fixture.transport.calls("load", A)).hasSize(1);
      // Draining is not a change of what the worker is.
      fixture.transport.forgetCalls();
      fixture.registry.drain(WorkerId.parse(A), true);
      fixture.advance(ofMillis(10));
      assertThat(fixture.transport.calls()).isZero();
    }

    @Test
    void aWorkerOfAnUnknownSchemeStaysUnknownAndSaysSo() {
      fixture.registry.add(WorkerSpec.builder("grpc://a:1").build());
      fixture.advance(ofMinutes(1));
      assertThat(fixture.view("grpc://a:1").availability()).isEqualTo(Availability.UNKNOWN);
      assertThat(fixture.view("grpc://a:1").detail()).contains("no transport for grpc");
    }
  }

  @Nested
  class Load {
    @Test
    void pollsSpeedUpWithChangeAndSlowDownWithout() {
      FakeWorker a = fixture.addUp(A);
      a.ranks = List.of(load(-1, 10, 0));
      fixture.advance(ofMinutes(1));
      fixture.transport.forgetCalls();
      fixture.advance(ofMinutes(1));
      assertThat(gaps(fixture.transport.calls("load", A)))
          .allMatch(gap -> gap.compareTo(ofSeconds(5)) >= 0)
          .allMatch(gap -> gap.compareTo(ofMillis(5_510)) <= 0);

      fixture.transport.forgetCalls();
      for (int second = 0; second < 60; second++) {
        a.ranks = List.of(load(-1, second % 2 == 0 ? 10 : 20, 0));
        fixture.advance(ofSeconds(1));
      }
      List<Duration> gaps = gaps(fixture.transport.calls("load", A));
      assertThat(gaps).allMatch(gap -> gap.compareTo(ofSeconds(1)) >= 0);
      assertThat(gaps).anyMatch(gap -> gap.compareTo(ofMillis(1_101)) <= 0);
    }

    @Test
    void theFloorIsConfigurable() {
      fixture.monitor.reconfigure(
          HealthSettings.builder().loadInterval(ofMillis(100), ofMillis(100)).build());
      fixture.addUp(A);
      fixture.advance(ofSeconds(10));
      assertThat(gaps(fixture.transport.calls("load", A)))
          .hasSizeGreaterThan(80)
          .allMatch(gap -> gap.compareTo(ofMillis(100)) >= 0);
    }

    @Test
    void failedPollsNeverMarkAWorkerDownAndLeaveTheLastReadingWithItsAge() {
      fixture.addUp(B);
      FakeWorker a = fixture.transport.worker(A);
      a.ranks = List.of(load(-1, 3, 1));
      fixture.addUp(A);
      a.load = Mode.TIME_OUT;
      fixture.advance(ofMinutes(10));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      WorkerView.RankView rank = fixture.view(A).ranks().get(0);
      assertThat(rank.load()).isEqualTo(load(-1, 3, 1));
      assertThat(rank.loadAge()).isBetween(ofMillis(599_000), ofMillis(600_100));
      assertThat(rank.stale()).isTrue();
      assertThat(rank.loadSource()).isEqualTo("/fake");
      assertThat(fixture.state(A).freshLoad(fixture.time.nanoTime(), ofSeconds(15).toNanos()))
          .isNull();
      a.load = Mode.OK;
      fixture.advance(ofSeconds(6));
      assertThat(fixture.view(A).ranks().get(0).stale()).isFalse();
    }

    @Test
    void telemetryThatIsSwitchedOffIsUnknown() {
      FakeWorker a = fixture.transport.worker(A);
      a.ranks = List.of();
      fixture.addUp(A);
      fixture.advance(ofMinutes(1));
      assertThat(fixture.state(A).load()).isNull();
      assertThat(fixture.view(A).ranks().get(0).stale()).isTrue();
      assertThat(fixture.view(A).ranks().get(0).loadAge()).isNull();
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
    }

    @Test
    void eachRankGetsItsOwnReading() {
      FakeWorker a = fixture.transport.worker(A);
      a.dpSize = 3;
      a.ranks = List.of(load(0, 1, 0), load(2, 5, 4));
      fixture.addUp(A);
      assertThat(fixture.worker(A).ranks()).hasSize(3);
      assertThat(fixture.state(A, 0).load().load().runningRequests()).isEqualTo(1);
      assertThat(fixture.state(A, 1).load()).isNull();
      assertThat(fixture.state(A, 2).load().load().waitingRequests()).isEqualTo(4);
    }

    @Test
    void aRequestBegunAfterThePollWasAskedForIsNotInItsReading() {
      FakeWorker a = fixture.addUp(A);
      a.ranks = List.of(load(-1, 1, 0));
      RankState state = fixture.state(A);
      long before = state.begin(10, true);
      long[] within = {-1};
      a.duringCall =
          () -> {
            if (within[0] < 0) {
              within[0] = state.begin(10, true);
            }
          };
      assertThat(state.inFlightUnseen()).isEqualTo(1);
      while (state.load().load().runningRequests() == 0) {
        fixture.advance(ofMillis(100));
      }
      assertThat(state.inFlight()).isEqualTo(2);
      assertThat(state.inFlightUnseen()).isEqualTo(1);
      state.end(before);
      assertThat(state.inFlightUnseen()).isEqualTo(1);
      state.end(within[0]);
      assertThat(state.inFlightUnseen()).isZero();
      assertThat(state.inFlight()).isZero();
    }
  }

  @Nested
  class Restarts {
    private void expectRestart(FakeWorker a, Runnable event, Duration within) {
      long epoch = fixture.worker(A).epoch();
      RankState old = fixture.state(A);
      long begun = old.begin(100, true);
      a.models = List.of(ServedModel.named("new"));
      event.run();
      fixture.advance(within);
      assertThat(fixture.worker(A).epoch()).isGreaterThan(epoch);
      assertThat(fixture.worker(A).serves("new")).isEqualTo(dev.warmpath.worker.Worker.Served.YES);
      assertThat(fixture.gone).isNotEmpty();
      RankState fresh = fixture.state(A);
      assertThat(fresh).isNotSameAs(old);
      assertThat(fresh.inFlight()).isZero();
      old.end(begun);
      assertThat(fresh.inFlight()).isZero();
      // Once is enough.
      long renewed = fixture.worker(A).epoch();
      fixture.advance(ofMinutes(10));
      assertThat(fixture.worker(A).epoch()).isEqualTo(renewed);
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(fixture.state(A).load()).isNotNull();
    }

    @Test
    void aChangedIncarnationInLoadReports() {
      FakeWorker a = fixture.transport.worker(A);
      a.loadIncarnation = "start 1";
      fixture.addUp(A);
      expectRestart(a, () -> a.loadIncarnation = "start 2", ofSeconds(6));
      assertThat(fixture.changes).as("it never was down").hasSize(1);
    }

    @Test
    void aChangedIncarnationInProbes() {
      FakeWorker a = fixture.transport.worker(A);
      a.incarnation = "boot 1";
      fixture.addUp(A);
      expectRestart(a, () -> a.incarnation = "boot 2", ofSeconds(70));
    }

    @Test
    void bothIncarnationsChangedAreOneRestart() {
      FakeWorker a = fixture.transport.worker(A);
      a.incarnation = "boot 1";
      a.loadIncarnation = "start 1";
      fixture.addUp(A);
      long epoch = fixture.worker(A).epoch();
      expectRestart(
          a,
          () -> {
            a.incarnation = "boot 2";
            a.loadIncarnation = "start 2";
          },
          ofSeconds(70));
      assertThat(fixture.worker(A).epoch()).isEqualTo(epoch + 1);
    }

    @Test
    void countersThatRanBackwards() {
      FakeWorker a = fixture.transport.worker(A);
      a.count = 1_000;
      fixture.addUp(A);
      a.count = 2_000;
      fixture.advance(ofSeconds(30));
      expectRestart(a, () -> a.count = 3, ofSeconds(6));
    }

    @Test
    void refusedThenBack() {
      FakeWorker a = fixture.addUp(A);
      fixture.addUp(B);
      a.all(Mode.REFUSE);
      fixture.advance(ofSeconds(30));
      assertThat(fixture.availability(A)).isEqualTo(Availability.DOWN);
      expectRestart(a, () -> a.all(Mode.OK), ofSeconds(15));
    }

    @Test
    void refusedThenBackBetweenTwoProbes() {
      FakeWorker a = fixture.addUp(A);
      fixture.advance(ofMillis(500));
      a.all(Mode.REFUSE);
      fixture.advance(ofSeconds(7));
      expectRestart(a, () -> a.all(Mode.OK), ofSeconds(10));
    }

    @Test
    void aNetworkThatWasAwayIsNoRestart() {
      for (boolean inProbes : new boolean[] {true, false}) {
        try (MonitorFixture other = new MonitorFixture()) {
          FakeWorker a = other.transport.worker(A);
          a.incarnation = inProbes ? "boot 1" : null;
          a.loadIncarnation = inProbes ? null : "start 1";
          other.addUp(A);
          long epoch = other.worker(A).epoch();
          a.all(Mode.REFUSE);
          other.advance(ofSeconds(30));
          a.all(Mode.OK);
          a.models = List.of(ServedModel.named("m"), ServedModel.named("n"));
          other.advance(ofMinutes(3));
          assertThat(other.worker(A).epoch()).isEqualTo(epoch);
          assertThat(other.worker(A).models()).hasSize(2);
          assertThat(other.availability(A)).isEqualTo(Availability.UP);
        }
      }
    }

    @Test
    void refusedThenBackWithAnotherIncarnationInLoadReports() {
      FakeWorker a = fixture.transport.worker(A);
      a.loadIncarnation = "start 1";
      fixture.addUp(A);
      a.all(Mode.REFUSE);
      fixture.advance(ofSeconds(30));
      a.loadIncarnation = "start 2";
      expectRestart(a, () -> a.all(Mode.OK), ofSeconds(15));
    }

    @Test
    void oneRefusalIsNoRestart() {
      FakeWorker a = fixture.addUp(A);
      long epoch = fixture.worker(A).epoch();
      a.health = Mode.REFUSE;
      fixture.transport.forgetCalls();
      while (fixture.transport.calls("health", A).isEmpty()) {
        fixture.advance(ofMillis(1));
      }
      fixture.advance(ofMillis(2));
      a.health = Mode.OK;
      fixture.advance(ofMinutes(5));
      assertThat(fixture.worker(A).epoch()).isEqualTo(epoch);
    }

    @Test
    void aRestartWhoseWorkerCannotBeAskedLeavesNothingOfTheOldOne() {
      FakeWorker a = fixture.transport.worker(A);
      a.loadIncarnation = "start 1";
      fixture.addUp(A);
      long epoch = fixture.worker(A).epoch();
      a.probe = Mode.TIME_OUT;
      a.loadIncarnation = "start 2";
      fixture.advance(ofSeconds(6));
      assertThat(fixture.worker(A).epoch()).isEqualTo(epoch + 1);
      assertThat(fixture.worker(A).models()).isEmpty();
      a.probe = Mode.OK;
      fixture.advance(ofSeconds(12));
      assertThat(fixture.worker(A).models()).isNotEmpty();
      assertThat(fixture.worker(A).epoch()).isEqualTo(epoch + 1);
    }

    @Test
    void twoProcessesAtOneAddressDoNotRestartForEver() {
      FakeWorker a = fixture.transport.worker(A);
      a.loadIncarnation = "start 1";
      fixture.addUp(A);
      long epoch = fixture.worker(A).epoch();
      for (int i = 0; i < 200; i++) {
        a.loadIncarnation = i % 2 == 0 ? "start 2" : "start 1";
        fixture.advance(ofSeconds(6));
      }
      assertThat(fixture.worker(A).epoch()).isLessThanOrEqualTo(epoch + 1);
    }

    @Test
    void aRestartToldByOthersIsFollowed() {
      fixture.addUp(A);
      fixture.transport.forgetCalls();
      fixture.registry.restarted(WorkerId.parse(A), fixture.worker(A).epoch());
      fixture.advance(ofMillis(10));
      assertThat(fixture.worker(A).models()).isNotEmpty();
      assertThat(fixture.state(A).load()).isNotNull();
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
    }
  }

  @Nested
  class Capabilities {
    @Test
    void newAdaptersAreFound() {
      FakeWorker a = fixture.addUp(A);
      a.models = List.of(ServedModel.named("m"), new ServedModel("lora", null, "m", null));
      fixture.advance(ofSeconds(67));
      assertThat(fixture.worker(A).serves("lora")).isEqualTo(dev.warmpath.worker.Worker.Served.YES);
    }

    @Test
    void whatIsNotSaidThisTimeStays() {
      FakeWorker a = fixture.transport.worker(A);
      a.dpSize = 2;
      fixture.addUp(A);
      long epoch = fixture.worker(A).epoch();
      a.dpSize = null;
      a.blockSize = null;
      a.models = List.of();
      a.engine = EngineKind.UNKNOWN;
      fixture.advance(ofMinutes(5));
      assertThat(fixture.worker(A).epoch()).isEqualTo(epoch);
      assertThat(fixture.worker(A).ranks()).hasSize(2);
      assertThat(fixture.worker(A).blockSize()).isEqualTo(16);
      assertThat(fixture.worker(A).engine()).isEqualTo(EngineKind.VLLM);
      assertThat(fixture.worker(A).models()).hasSize(1);
    }

    @Test
    void aFailedLookIsRepeatedAndHurtsNobody() {
      FakeWorker a = fixture.transport.worker(A);
      a.probe = Mode.TIME_OUT;
      fixture.addUp(A);
      assertThat(fixture.worker(A).engine()).isEqualTo(EngineKind.UNKNOWN);
      fixture.advance(ofSeconds(30));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      a.probe = Mode.OK;
      fixture.advance(ofSeconds(12));
      assertThat(fixture.worker(A).engine()).isEqualTo(EngineKind.VLLM);
    }

    @Test
    void learningTheRanksKeepsTheWorkerUp() {
      FakeWorker a = fixture.transport.worker(A);
      a.probe = Mode.TIME_OUT;
      fixture.addUp(A);
      a.dpSize = 4;
      a.ranks = List.of(load(-1, 8, 4));
      a.probe = Mode.OK;
      fixture.advance(ofSeconds(12));
      assertThat(fixture.worker(A).ranks()).hasSize(4);
      for (int rank = 0; rank < 4; rank++) {
        assertThat(fixture.state(A, rank).availability()).isEqualTo(Availability.UP);
        assertThat(fixture.state(A, rank).load().load().runningRequests()).isEqualTo(2);
      }
      assertThat(fixture.changes).hasSize(1);
    }
  }

  @Nested
  class Lifecycle {
    @Test
    void readyWhenTheFirstWorkerIsUp() {
      CompletableFuture<Void> before = fixture.monitor.whenReady();
      CompletableFuture<Void> cancelled = fixture.monitor.whenReady();
      cancelled.cancel(false);
      FakeWorker a = fixture.add(A);
      a.all(Mode.REFUSE);
      fixture.advance(ofMinutes(1));
      assertThat(before).isNotDone();
      a.all(Mode.OK);
      fixture.advance(ofSeconds(12));
      assertThat(before).isCompleted();
      assertThat(fixture.monitor.whenReady()).isCompleted();
      a.all(Mode.REFUSE);
      fixture.advance(ofMinutes(1));
      assertThat(fixture.monitor.whenReady()).isNotDone();
    }

    @Test
    void closingEndsTheWaiting() {
      CompletableFuture<Void> waiting = fixture.monitor.whenReady();
      fixture.monitor.close();
      assertThatThrownBy(waiting::join).hasCauseInstanceOf(RouterClosedException.class);
      assertThatThrownBy(fixture.monitor.whenReady()::join)
          .hasCauseInstanceOf(RouterClosedException.class);
    }

    @Test
    void nothingIsAskedAfterClosing() {
      fixture.addUp(A);
      fixture.monitor.close();
      fixture.transport.forgetCalls();
      fixture.registry.add(WorkerSpec.builder(B).build());
      fixture.advance(ofMinutes(10));
      assertThat(fixture.transport.calls()).isZero();
      assertThat(fixture.time.pending()).isZero();
    }

    @Test
    void aRemovedWorkerIsLeftAlone() {
      fixture.addUp(A);
      fixture.addUp(B);
      RankState state = fixture.state(A);
      fixture.registry.remove(WorkerId.parse(A));
      fixture.time.run();
      fixture.transport.forgetCalls();
      fixture.advance(ofMinutes(10));
      assertThat(fixture.transport.calls("health", A)).isEmpty();
      assertThat(fixture.transport.calls("load", A)).isEmpty();
      state.succeeded(1, fixture.time.nanoTime());
      fixture.time.run();
      assertThat(fixture.monitor.views()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aWorkerRemovedWhileItIsAsked(Mode mode) {
      FakeWorker a = fixture.addUp(A);
      a.all(mode);
      a.duringCall = () -> fixture.registry.remove(WorkerId.parse(A));
      fixture.advance(ofMinutes(1));
      assertThat(fixture.registry.current().workers()).isEmpty();
      assertThat(fixture.monitor.views()).isEmpty();
      // It may come back, as somebody new.
      a.all(Mode.OK);
      a.duringCall = () -> {};
      fixture.addUp(A);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aWorkerRestartedWhileItIsAsked(Mode mode) {
      FakeWorker a = fixture.addUp(A);
      fixture.addUp(B);
      a.all(mode);
      boolean[] done = new boolean[1];
      a.duringCall =
          () -> {
            if (!done[0]) {
              done[0] = true;
              fixture.registry.restarted(WorkerId.parse(A), fixture.worker(A).epoch());
            }
          };
      fixture.advance(ofMinutes(1));
      assertThat(done[0]).isTrue();
      a.all(Mode.OK);
      fixture.advance(ofMinutes(1));
      assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
      assertThat(fixture.worker(A).models()).isNotEmpty();
      assertThat(fixture.state(A).load()).isNotNull();
    }

    @Test
    void aListenerThatThrowsOrChangesTheRegistryHurtsNobody() {
      fixture.monitor.addListener(
          new HealthListener() {
            @Override
            public void onAvailability(AvailabilityChange change) {
              if (change.after() == Availability.DOWN) {
                fixture.registry.remove(change.worker().id());
              }
              throw new IllegalStateException("a bug in the listener");
            }
          });
      FakeWorker a = fixture.addUp(A);
      fixture.addUp(B);
      a.all(Mode.REFUSE);
      fixture.advance(ofMinutes(1));
      assertThat(fixture.registry.current().workers()).hasSize(1);
      assertThat(fixture.availability(B)).isEqualTo(Availability.UP);
    }

    @Test
    void aWorkerThatHasNotToldAllIsAskedAgainSoon() {
      FakeWorker a = fixture.transport.worker(A);
      a.unfinished = true;
      fixture.addUp(A);
      fixture.transport.forgetCalls();
      fixture.advance(ofSeconds(30));
      assertThat(fixture.transport.calls("probe", A)).hasSizeBetween(2, 4);
      a.unfinished = false;
      fixture.advance(ofSeconds(15));
      fixture.transport.forgetCalls();
      fixture.advance(ofSeconds(30));
      assertThat(fixture.transport.calls("probe", A)).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void viewsShowWhatIsKnown() {
      FakeWorker a = fixture.transport.worker(A);
      a.ranks = List.of(load(-1, 3, 1));
      fixture.add(A);
      WorkerView before = fixture.view(A);
      assertThat(before.availability()).isEqualTo(Availability.UNKNOWN);
      assertThat(before.detail()).isEqualTo("not looked at yet");
      fixture.advance(ofSeconds(20));
      long begun = fixture.state(A).begin(64, true);
      WorkerView view = fixture.view(A);
      assertThat(view.worker().capabilities().blockSize()).isEqualTo(16);
      assertThat(view.availability()).isEqualTo(Availability.UP);
      assertThat(view.since()).isBetween(ofSeconds(19), ofSeconds(20));
      assertThat(view.detail()).isEqualTo("200");
      assertThat(view.ranks()).hasSize(1);
      assertThat(view.ranks().get(0).inFlight()).isEqualTo(1);
      assertThat(view.ranks().get(0).prefillTokens()).isEqualTo(64);
      fixture.state(A).end(begun);
    }
  }

  @Nested
  class Scale {
    @Test
    void manyWorkers() {
      int workers = 1_024;
      for (int i = 0; i < workers; i++) {
        fixture.transport.worker("http://w" + i + ":1").ranks = List.of(load(-1, i % 5, 0));
      }
      fixture.registry.replace(
          "test",
          java.util.stream.IntStream.range(0, workers)
              .mapToObj(i -> WorkerSpec.builder("http://w" + i + ":1").build())
              .toList());
      fixture.advance(ofSeconds(1));
      assertThat(fixture.monitor.views())
          .hasSize(workers)
          .allMatch(view -> view.availability() == Availability.UP);
      for (int i = 0; i < workers / 2; i++) {
        fixture.transport.worker("http://w" + i + ":1").all(Mode.REFUSE);
      }
      fixture.advance(ofMinutes(1));
      assertThat(fixture.monitor.views())
          .filteredOn(view -> view.availability() == Availability.DOWN)
          .hasSize(workers / 2);
      for (int i = 0; i < workers / 2; i++) {
        fixture.transport.worker("http://w" + i + ":1").all(Mode.OK);
      }
      fixture.transport.forgetCalls();
      fixture.advance(ofMinutes(2));
      assertThat(fixture.monitor.views()).allMatch(view -> view.availability() == Availability.UP);
      // Per worker and minute: at most 12 load polls, 6 probes, 1 look at what it is, and a bit for
      // the return of half of them.
      assertThat(fixture.transport.calls()).isLessThan(workers * 2 * 24);
    }
  }
}
