package dev.warmpath.fake.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.VllmCore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class VirtualRankTest {
  private final VirtualTime time = new VirtualTime();
  private final VirtualRank rank =
      new VirtualRank(time, new VllmCore(CoreOptions.builder().build(), LatencyModel.polynomial()));

  private final class Recorder implements RankListener {
    final List<Double> admissions = new ArrayList<>();
    final List<Double> tokens = new ArrayList<>();
    Runnable atEnd = () -> {};
    @Nullable FinishReason finish;

    @Override
    public void admitted(int reusedTokens) {
      admissions.add(time.nowMs());
    }

    @Override
    public void output(int count, @Nullable FinishReason reason) {
      for (int i = 0; i < count; i++) {
        tokens.add(time.nowMs());
      }
      if (reason != null) {
        finish = reason;
        atEnd.run();
      }
    }
  }

  private Recorder submit(long id, int prompt, int output) {
    Recorder recorder = new Recorder();
    rank.submit(
        new EngineRequest(id, IntStream.range(0, prompt).toArray(), new int[output], id), recorder);
    return recorder;
  }

  @Test
  void tokensAppearWhenTheirPassEnds() {
    Recorder recorder = submit(1, 1024, 2);

    time.runUntilIdle();

    assertThat(recorder.admissions).containsExactly(0.0);
    assertThat(recorder.tokens.get(0)).isEqualTo(38.283431, within(1e-6));
    assertThat(recorder.tokens.get(1)).isEqualTo(44.079444, within(1e-6));
    assertThat(recorder.finish).isEqualTo(FinishReason.COMPLETED);
    assertThat(rank.snapshot().metrics().running()).isZero();
    assertThat(rank.snapshot().passes()).isEqualTo(2);
  }

  @Test
  void arrivalsOfOneTimeShareAPass() {
    List<Recorder> recorders = new ArrayList<>();
    time.schedule(5, EventKind.ARRIVAL, () -> recorders.add(submit(1, 64, 1)));
    time.schedule(5, EventKind.ARRIVAL, () -> recorders.add(submit(2, 64, 1)));

    time.runUntilIdle();

    assertThat(recorders.get(0).admissions).containsExactly(5.0);
    assertThat(recorders.get(1).admissions).containsExactly(5.0);
    assertThat(recorders.get(1).tokens).isEqualTo(recorders.get(0).tokens);
    assertThat(rank.snapshot().passes()).isEqualTo(1);
  }

  @Test
  void requestThatArrivesDuringAPassIsAdmittedByTheNext() {
    Recorder first = submit(1, 1024, 2);
    List<Recorder> second = new ArrayList<>();
    time.schedule(10, EventKind.ARRIVAL, () -> second.add(submit(2, 64, 1)));

    time.runUntilIdle();

    assertThat(second.get(0).admissions).containsExactly(first.tokens.get(0));
  }

  @Test
  void cancelledRequestEndsAtTheBoundary() {
    Recorder recorder = submit(1, 1024, 100);
    time.schedule(10, EventKind.COMMAND, () -> rank.cancel(1));

    time.runUntilIdle();

    assertThat(recorder.tokens).hasSize(1);
    assertThat(recorder.finish).isEqualTo(FinishReason.ABORTED);
    assertThat(time.nowMs()).isEqualTo(recorder.tokens.get(0));
    assertThat(rank.snapshot().metrics().activeBlocks()).isZero();
  }

  /**
   * With one request in flight in a closed loop, the second one arrives exactly at the first one's
   * last token (vector V29).
   */
  @Test
  void closedLoopGoesOnAtTheLastToken() {
    List<Recorder> recorders = new ArrayList<>();
    recorders.add(submit(1, 64, 3));
    recorders.get(0).atEnd = () -> recorders.add(submit(2, 64, 3));

    time.runUntilIdle();

    assertThat(recorders.get(1).admissions).containsExactly(recorders.get(0).tokens.get(2));
  }

  @Test
  void slowdownStretchesPasses() {
    rank.slowdown(3);
    Recorder recorder = submit(1, 1024, 1);

    time.runUntilIdle();

    assertThat(recorder.tokens.get(0)).isEqualTo(3 * 38.283431, within(1e-5));
  }

  @Test
  void frozenRankTakesRequestsAndRunsNothing() {
    rank.freeze(true);
    Recorder recorder = submit(1, 64, 2);
    time.runUntil(50);
    assertThat(rank.metrics().waiting()).isEqualTo(1);
    assertThat(rank.snapshot().passes()).isZero();

    rank.freeze(false);
    time.runUntilIdle();

    assertThat(recorder.admissions).containsExactly(50.0);
    assertThat(recorder.finish).isEqualTo(FinishReason.COMPLETED);
  }

  @Test
  void closingEndsWhatRunsAndWhatComes() {
    Recorder running = submit(1, 1024, 100);
    time.runUntil(10);
    Recorder queued = submit(2, 64, 1);

    rank.close();
    Recorder late = submit(3, 64, 1);
    time.runUntilIdle();

    assertThat(List.of(running, queued, late))
        .extracting(recorder -> recorder.finish)
        .containsOnly(FinishReason.ABORTED);
    assertThat(rank.metrics().activeBlocks()).isZero();
    assertThat(time.nowMs()).isEqualTo(10);
  }

  @Test
  void throughputIsThatOfTheLastHalfSecondAndFades() {
    submit(1, 64, 200);
    time.runUntil(900);
    assertThat(rank.snapshot().tokensPerSecond()).isBetween(100.0, 200.0);

    time.runUntilIdle();
    time.runUntil(time.nowMs() + 1_001);

    assertThat(rank.snapshot().tokensPerSecond()).isZero();
  }

  /** Tokens of passes that ran ahead come with the times they would have had one by one. */
  @Test
  void tokensOfPassesThatRanAheadKeepTheirTimes() {
    Recorder stepwise = submit(1, 64, 50);
    time.runUntilIdle();
    double startMs = time.nowMs();
    rank.runAhead(true);
    List<Double> times = new ArrayList<>();
    List<Integer> counts = new ArrayList<>();
    rank.submit(
        new EngineRequest(2, IntStream.range(0, 64).toArray(), new int[50], 2),
        new RankListener() {
          @Override
          public void admitted(int reusedTokens) {}

          @Override
          public void output(int tokens, @Nullable FinishReason reason) {
            times.add(time.nowMs() - startMs);
            counts.add(tokens);
          }

          @Override
          public void outputs(int tokens, double firstMs, double lastMs) {
            times.add(firstMs - startMs);
            times.add(lastMs - startMs);
            counts.add(tokens);
          }
        });
    time.runUntilIdle();

    assertThat(counts).containsExactly(1, 48, 1);
    List<Integer> heard = List.of(0, 1, 48, 49);
    for (int i = 0; i < 4; i++) {
      assertThat(times.get(i)).isEqualTo(stepwise.tokens.get(heard.get(i)), within(1e-9));
    }
  }
}
