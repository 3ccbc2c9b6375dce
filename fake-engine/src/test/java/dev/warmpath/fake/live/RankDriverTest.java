package dev.warmpath.fake.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.PauseMode;
import dev.warmpath.fake.scheduler.VllmCore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RankDriverTest {
  private final VirtualClock clock = new VirtualClock();
  private final CoreOptions options = CoreOptions.builder().build();
  private final RankDriver driver =
      new RankDriver(
          "rank-under-test",
          RankSettings.aggregated(0, options),
          new VllmCore(options, LatencyModel.polynomial()),
          clock);

  @AfterEach
  void close() {
    driver.close();
  }

  private final class Recorder implements RankListener {
    final List<Double> tokenTimes = new CopyOnWriteArrayList<>();
    final CompletableFuture<FinishReason> end = new CompletableFuture<>();

    @Override
    public void admitted(int reusedTokens) {}

    @Override
    public void output(int tokens, @Nullable FinishReason finish) {
      if (tokens > 0) {
        tokenTimes.add(clock.nanoTime() / 1e6);
      }
      if (finish != null) {
        end.complete(finish);
      }
    }
  }

  private static EngineRequest request(long id, int prompt, int output) {
    return new EngineRequest(id, IntStream.range(0, prompt).toArray(), new int[output], id);
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(30, TimeUnit.SECONDS);
  }

  @Test
  void tokensAppearWhenTheirPassEnds() throws Exception {
    Recorder recorder = new Recorder();
    driver.submit(request(1, 1024, 2), recorder);

    assertThat(get(recorder.end)).isEqualTo(FinishReason.COMPLETED);

    assertThat(recorder.tokenTimes.get(0)).isEqualTo(38.283431, within(1e-4));
    assertThat(recorder.tokenTimes.get(1)).isEqualTo(44.079444, within(1e-4));
  }

  @Test
  void requestThatEndsWithAPassIsSeenRunningDuringIt() throws Exception {
    List<Integer> running = new CopyOnWriteArrayList<>();
    CompletableFuture<FinishReason> end = new CompletableFuture<>();
    RankListener listener =
        new RankListener() {
          @Override
          public void admitted(int reusedTokens) {
            running.add(driver.snapshot().metrics().running());
          }

          @Override
          public void output(int tokens, @Nullable FinishReason finish) {
            running.add(driver.snapshot().metrics().running());
            if (finish != null) {
              end.complete(finish);
            }
          }
        };

    driver.submit(request(1, 64, 1), listener);

    assertThat(get(end)).isEqualTo(FinishReason.COMPLETED);
    assertThat(running).containsExactly(1, 0);
  }

  @Test
  void slowdownStretchesPasses() throws Exception {
    driver.slowdown(3);
    Recorder recorder = new Recorder();
    driver.submit(request(1, 1024, 1), recorder);

    get(recorder.end);

    assertThat(recorder.tokenTimes.get(0)).isEqualTo(3 * 38.283431, within(1e-3));
  }

  @Test
  void commandsAreAnsweredInOrderAndCancelsAreHeard() throws Exception {
    get(driver.apply(new EngineCommand.Pause(PauseMode.IN_PLACE)));
    Recorder recorder = new Recorder();
    driver.submit(request(1, 64, 5), recorder);
    CommandResult busy = get(driver.apply(new EngineCommand.Flush()));
    assertThat(busy.effects()).containsExactly(new EngineEffect.FlushAnswered(false));
    assertThat(driver.snapshot().metrics().waiting()).isEqualTo(1);

    driver.cancel(1);

    assertThat(get(recorder.end)).isEqualTo(FinishReason.ABORTED);
    CommandResult idle = get(driver.apply(new EngineCommand.Flush()));
    assertThat(idle.effects()).contains(new EngineEffect.FlushAnswered(true));
    assertThat(driver.snapshot().metrics().waiting()).isZero();
  }

  @Test
  void frozenRankTakesCommandsButRunsNothing() throws Exception {
    driver.freeze(true);
    Recorder recorder = new Recorder();
    driver.submit(request(1, 64, 2), recorder);
    get(driver.apply(new EngineCommand.Resume()));
    assertThat(driver.snapshot().passes()).isZero();
    assertThat(driver.snapshot().metrics().waiting()).isEqualTo(1);

    driver.freeze(false);

    assertThat(get(recorder.end)).isEqualTo(FinishReason.COMPLETED);
  }

  @Test
  void closedRankCancelsWhatWasAsked() {
    driver.close();
    assertThat(driver.apply(new EngineCommand.Flush()))
        .failsWithin(Duration.ofSeconds(30))
        .withThrowableThat()
        .isInstanceOf(CancellationException.class);
  }
}
