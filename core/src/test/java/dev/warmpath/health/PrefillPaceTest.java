package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Scale;
import org.junit.jupiter.api.Test;

class PrefillPaceTest {
  private static RankState rank() {
    WorkerRegistry registry = new WorkerRegistry();
    registry.replace("test", List.of(WorkerSpec.builder("http://w:1").build()));
    return new RankState(registry.current().ranks().get(0));
  }

  @Test
  void isUnknownBeforeThereAreEnoughSamples() {
    PrefillPace pace = new PrefillPace();
    for (int i = 1; i < PrefillPace.ENOUGH; i++) {
      pace.observe(i * 100, i * 10);
      assertThat(pace.millisPerToken()).isNaN();
    }
    pace.observe(0, 0);
    assertThat(pace.millisPerToken()).isCloseTo(0.1, within(1e-9));
  }

  @Property(tries = 50)
  void findsTheSlopeBehindNoiseAndQueues(
      @ForAll @Scale(3) @DoubleRange(min = 0.002, max = 2) double slope, @ForAll long seed) {
    Random random = new Random(seed);
    PrefillPace pace = new PrefillPace();
    for (int i = 0; i < 400; i++) {
      double tokens = random.nextInt(8_000);
      double queued = random.nextInt(10) == 0 ? slope * random.nextInt(50_000) : 0;
      pace.observe(tokens, 20 + slope * tokens * (0.9 + 0.2 * random.nextDouble()) + queued);
    }
    assertThat(pace.millisPerToken()).isBetween(slope / 2, slope * 2);
  }

  @Test
  void equalPromptsTellNothing() {
    PrefillPace pace = new PrefillPace();
    for (int i = 0; i < 200; i++) {
      pace.observe(1_000, 100 + i % 7);
    }
    assertThat(pace.millisPerToken()).isNaN();
  }

  @Test
  void whatIsNoMeasurementIsPassedOver() {
    PrefillPace pace = new PrefillPace();
    for (int i = 0; i < 200; i++) {
      pace.observe(i * 50, i * 5);
      pace.observe(Double.NaN, 1);
      pace.observe(1, -5);
    }
    assertThat(pace.millisPerToken()).isCloseTo(0.1, within(1e-6));
  }

  @Test
  void followsAWorkerThatBecomesSlower() {
    PrefillPace pace = new PrefillPace();
    Random random = new Random(1);
    for (int i = 0; i < 1_000; i++) {
      double tokens = random.nextInt(8_000);
      pace.observe(tokens, tokens * (i < 300 ? 0.02 : 0.06));
    }
    assertThat(pace.millisPerToken()).isCloseTo(0.06, within(0.01));
  }

  @Test
  void aRankIsJudgedByItsOwnPaceOnlyWhereThatIsClearlyAnother() {
    PrefillStatistics all = new PrefillStatistics();
    assertThat(all.millisPerToken()).isEqualTo(PrefillStatistics.DEFAULT_MILLIS_PER_TOKEN);
    RankState usual = rank();
    RankState slow = rank();
    RankState fast = rank();
    for (int i = 0; i < 400; i++) {
      double tokens = i % 40 * 100;
      all.firstToken(tokens, tokens * 0.1);
      usual.pace().observe(tokens, tokens * 0.12);
      slow.pace().observe(tokens, tokens * 0.3);
      fast.pace().observe(tokens, tokens * 0.03);
    }
    assertThat(all.millisPerToken(usual)).isEqualTo(all.millisPerToken());
    assertThat(all.millisPerToken(rank())).isEqualTo(all.millisPerToken());
    assertThat(all.millisPerToken(slow)).isCloseTo(0.2, within(0.001));
    assertThat(all.millisPerToken(fast)).isCloseTo(0.045, within(0.001));
  }

  @Test
  void averagesMoveSlowlyFromWhatIsUsual() {
    PrefillStatistics all = new PrefillStatistics();
    assertThat(all.uncachedTokens()).isEqualTo(2_000);
    assertThat(all.reuse()).isEqualTo(0.5);
    for (int i = 0; i < 500; i++) {
      all.computed(300);
      all.reused(0);
    }
    assertThat(all.uncachedTokens()).isCloseTo(300, within(1.0));
    assertThat(all.reuse()).isCloseTo(0, within(0.001));
  }

  @Test
  void tokensThatTelemetryCannotShowAreToldFromThoseThatItCan() {
    RankState state = rank();
    long seen = state.begin(100, true);
    state.sampling();
    state.observe(new LoadSnapshot(null, 0, "test"));
    assertThat(state.prefillTokens()).isEqualTo(100);
    assertThat(state.prefillTokensUnseen()).isZero();
    long unseen = state.begin(30, true);
    long whole = state.begin(7, false);
    assertThat(state.prefillTokens()).isEqualTo(137);
    assertThat(state.prefillTokensUnseen()).isEqualTo(37);
    state.sampling();
    assertThat(state.prefillTokensUnseen()).isEqualTo(37);
    state.computed(30, unseen);
    state.computed(7, whole);
    state.computed(100, seen);
    assertThat(state.prefillTokens()).isZero();
    assertThat(state.prefillTokensUnseen()).isZero();
  }
}
