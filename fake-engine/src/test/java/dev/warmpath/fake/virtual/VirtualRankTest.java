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
}
