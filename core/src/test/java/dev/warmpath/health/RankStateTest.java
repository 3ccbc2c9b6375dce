package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RankStateTest {
  private static final LoadSnapshot READING =
      new LoadSnapshot(FakeTransport.load(-1, 1, 0), 100, "test");

  private final RankState state = new RankState(rank());

  static WorkerRank rank() {
    WorkerRegistry registry = new WorkerRegistry();
    registry.add(WorkerSpec.builder("http://a:1").build());
    return registry.current().ranks().get(0);
  }

  private static void end(RankState state, int tokens, long begun) {
    state.computed(tokens, begun);
    state.end(begun);
  }

  @ParameterizedTest
  @CsvSource({
    "UNKNOWN, false, UNKNOWN, false",
    "UP, false, UP, false",
    "DOWN, false, DOWN, true",
    "SUSPECT, false, SUSPECT, true",
    "UNKNOWN, true, SUSPECT, true",
    "UP, true, SUSPECT, true",
    "DOWN, true, DOWN, true",
    "SUSPECT, true, SUSPECT, true",
  })
  void availability(Availability probed, boolean suspect, Availability shown, boolean lastResort) {
    state.probed(probed);
    state.suspect(suspect);
    assertThat(state.availability()).isEqualTo(shown);
    assertThat(state.lastResort()).isEqualTo(lastResort);
  }

  @Test
  void latencyIsAMovingAverageThatStartsWithTheFirstSample() {
    assertThat(state.latencyMillis()).isNaN();
    assertThat(state.lastSuccessNanos()).isEqualTo(RankState.NEVER);
    state.succeeded(100, 5);
    assertThat(state.latencyMillis()).isEqualTo(100);
    state.succeeded(200, 6);
    assertThat(state.latencyMillis()).isEqualTo(120);
    assertThat(state.lastSuccessNanos()).isEqualTo(6);
  }

  @Test
  void whatItsQuickerAnswersTakeIsHeldUpLittleBySlowOnes() {
    assertThat(state.quickMillis()).isNaN();
    state.succeeded(0, 5);
    assertThat(state.quickMillis()).isPositive();
    for (int i = 0; i < 50; i++) {
      state.succeeded(100, 6);
    }
    assertThat(state.quickMillis()).isCloseTo(100, within(100.0));
    for (int i = 0; i < 100; i++) {
      state.succeeded(i % 2 == 0 ? 3_000 : 100, 7);
    }
    assertThat(state.quickMillis()).isBetween(100.0, 300.0);
    for (int i = 0; i < 100; i++) {
      state.succeeded(3_000, 8);
    }
    assertThat(state.quickMillis()).isBetween(2_500.0, 3_000.0);
  }

  @Test
  void proofOfLifeRevivesAndTellsOnlyWhenItIsNews() {
    int[] told = new int[1];
    state.watchedBy(witness(() -> told[0]++, () -> {}, () -> {}));
    state.probed(Availability.DOWN);
    state.suspect(true);
    state.alive(1);
    assertThat(state.probed()).isEqualTo(Availability.UP);
    assertThat(state.availability())
        .as("the breaker has its own mind")
        .isEqualTo(Availability.SUSPECT);
    state.alive(2);
    state.succeeded(1, 3);
    assertThat(told[0]).isEqualTo(1);
    state.watchedBy(null);
    state.probed(Availability.UNKNOWN);
    state.alive(4);
    assertThat(state.probed()).isEqualTo(Availability.UP);
    assertThat(told[0]).isEqualTo(1);
  }

  private static RankState.Witness witness(Runnable revived, Runnable failed, Runnable released) {
    return new RankState.Witness() {
      @Override
      public void revived() {
        revived.run();
      }

      @Override
      public void failed() {
        failed.run();
      }

      @Override
      public void released() {
        released.run();
      }
    };
  }

  @Test
  void failuresAndTheBreakersReleaseAreToldAtOnce() {
    List<String> told = new ArrayList<>();
    state.watchedBy(witness(() -> {}, () -> told.add("failed"), () -> told.add("released")));
    state.failed();
    state.suspect(false);
    state.suspect(true);
    state.suspect(true);
    state.suspect(false);
    assertThat(told).containsExactly("failed", "released");
    assertThat(state.failures()).isEqualTo(1);
    state.succeeded(5, 1);
    state.alive(2);
    assertThat(state.successes()).as("signs of life are no outcomes").isEqualTo(1);
  }

  @Test
  void whatIsWrongShowsOnlyWhereItAnswers() {
    Set<DegradationMode> modes = Set.of(DegradationMode.LATENCY, DegradationMode.KV_FULL);
    state.probed(Availability.UP);
    assertThat(state.label()).isEqualTo("up");
    state.degradation(new Degradation(modes, 0.3, 0.5, 0));
    assertThat(state.label()).isEqualTo("degraded:kv_full,latency");
    assertThat(state.share(false)).isEqualTo(0.3);
    assertThat(state.share(true)).isEqualTo(0.5);
    state.suspect(true);
    assertThat(state.label()).isEqualTo("suspect");
  }

  @Test
  void aReadingIsFreshForAWhile() {
    assertThat(state.freshLoad(0, 10)).isNull();
    state.observe(READING);
    assertThat(state.freshLoad(110, 10)).isSameAs(READING);
    assertThat(state.freshLoad(111, 10)).isNull();
    assertThat(state.load()).isSameAs(READING);
  }

  @Test
  void aReadingShowsWhatBeganBeforeItWasAskedFor() {
    long before = state.begin(10, false);
    state.sampling();
    long within = state.begin(20, false);
    assertThat(state.inFlightUnseen()).isEqualTo(2);
    assertThat(state.prefillTokens()).isEqualTo(30);
    state.observe(READING);
    assertThat(state.inFlightUnseen()).isEqualTo(1);
    assertThat(state.prefillTokens()).isEqualTo(20);
    end(state, 10, before);
    assertThat(state.prefillTokens()).isEqualTo(20);
    end(state, 20, within);
    assertThat(state.inFlightUnseen()).isZero();
    assertThat(state.prefillTokens()).isZero();
  }

  @Test
  void aReadingThatFailedLeavesTheRequestsUnseen() {
    long one = state.begin(1, false);
    state.sampling();
    long two = state.begin(2, false);
    state.sampling(); // the first reading never came
    long three = state.begin(4, false);
    assertThat(state.prefillTokens()).isEqualTo(7);
    state.observe(READING);
    assertThat(state.inFlightUnseen()).as("too long rather than too short").isEqualTo(2);
    assertThat(state.prefillTokens()).isEqualTo(6);
    state.sampling();
    state.observe(READING);
    assertThat(state.inFlightUnseen()).isZero();
    end(state, 1, one);
    end(state, 2, two);
    end(state, 4, three);
    assertThat(state.inFlight()).isZero();
    assertThat(state.prefillTokens()).isZero();
  }

  private record Running(int tokens, long begun, int asked) {}

  /**
   * Against a model that remembers, for each request, how many readings had been asked for when it
   * began: it is unseen until a reading asked for later has come.
   */
  @Property(tries = 500)
  void unseenAgreesWithAModel(
      @ForAll @Size(max = 60) List<@IntRange(max = 4) Integer> steps, @ForAll Random random) {
    RankState model = new RankState(rank());
    List<Running> running = new ArrayList<>();
    int asked = 0;
    int shown = 0; // readings asked for up to here show what began before them
    boolean out = false;
    for (int step : steps) {
      switch (step) {
        case 0, 1 -> {
          int tokens = random.nextInt(100);
          running.add(new Running(tokens, model.begin(tokens, false), asked));
        }
        case 2 -> {
          if (!running.isEmpty()) {
            Running ended = running.remove(random.nextInt(running.size()));
            end(model, ended.tokens(), ended.begun());
          }
        }
        case 3 -> {
          if (!out) { // readings that never come are tested apart
            asked++;
            out = true;
            model.sampling();
          }
        }
        default -> {
          if (!out) {
            asked++;
          }
          out = false;
          shown = asked;
          model.observe(READING);
        }
      }
      int since = shown;
      List<Running> unseen = running.stream().filter(request -> request.asked() >= since).toList();
      assertThat(model.inFlight()).isEqualTo(running.size());
      assertThat(model.inFlightUnseen()).isEqualTo(unseen.size());
      assertThat(model.prefillTokens()).isEqualTo(unseen.stream().mapToInt(Running::tokens).sum());
    }
  }

  @Test
  void countsReturnToZeroUnderContention() throws Exception {
    int threads = 4;
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Random random = new Random(i);
      Thread thread =
          new Thread(
              () -> {
                try {
                  go.await();
                } catch (InterruptedException e) {
                  return;
                }
                long[] begun = new long[8];
                for (int round = 0; round < 20_000; round++) {
                  for (int j = 0; j < begun.length; j++) {
                    begun[j] = state.begin(j, false);
                  }
                  if (random.nextInt(4) == 0) {
                    state.sampling();
                  }
                  if (random.nextInt(4) == 0) {
                    state.observe(READING);
                  }
                  for (int j = 0; j < begun.length; j++) {
                    end(state, j, begun[j]);
                  }
                }
              });
      thread.start();
      all.add(thread);
    }
    go.countDown();
    for (Thread thread : all) {
      thread.join();
    }
    assertThat(state.inFlight()).isZero();
    assertThat(state.inFlightUnseen()).isZero();
    assertThat(state.prefillTokens()).isZero();
  }
}
