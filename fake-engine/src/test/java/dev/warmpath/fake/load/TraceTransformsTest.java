package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class TraceTransformsTest {
  private static TraceRequest turn(double at, String session, double delay, long... ids) {
    return new TraceRequest(at, session, delay, ids.length * 4, 5, ids, 4, "p");
  }

  private final List<TraceRequest> trace =
      List.of(
          turn(100, "a", 0, 0, 1),
          turn(200, "b", 0, 0, 2),
          turn(250, "c", 0, 3),
          turn(500, "a", 40, 0, 1, 4));

  @Test
  void speedUpDividesArrivalsAndDelays() {
    List<TraceRequest> fast = TraceTransforms.speedUp(trace, 4);
    assertThat(fast).extracting(TraceRequest::arrivalMs).containsExactly(25.0, 50.0, 62.5, 125.0);
    assertThat(fast.get(3).delayAfterPreviousMs()).isEqualTo(10);
    assertThat(fast.get(3).hashIds()).containsExactly(0, 1, 4);
  }

  @Test
  void normaliseStartBeginsAtZeroAndKeepsDelays() {
    List<TraceRequest> shifted = TraceTransforms.normaliseStart(trace);
    assertThat(shifted)
        .extracting(TraceRequest::arrivalMs)
        .containsExactly(0.0, 100.0, 150.0, 400.0);
    assertThat(shifted.get(3).delayAfterPreviousMs()).isEqualTo(40);
  }

  @Test
  void rescaleSpanStretches() {
    List<TraceRequest> wide = TraceTransforms.rescaleSpan(trace, 4_000);
    assertThat(wide)
        .extracting(TraceRequest::arrivalMs)
        .containsExactly(100.0, 1_100.0, 1_600.0, 4_100.0);
    assertThat(wide.get(3).delayAfterPreviousMs()).isEqualTo(400);
    assertThat(TraceTransforms.rescaleSpan(trace.subList(0, 1), 10)).isEqualTo(trace.subList(0, 1));
  }

  @Test
  void partitionKeepsSessionsWhole() {
    List<List<TraceRequest>> parts = TraceTransforms.partitionBySession(trace, 2);
    assertThat(parts.get(0)).extracting(TraceRequest::sessionId).containsExactly("a", "c", "a");
    assertThat(parts.get(1)).extracting(TraceRequest::sessionId).containsExactly("b");
  }

  @Test
  void duplicatesShareNoBlocks() {
    List<TraceRequest> twice = TraceTransforms.duplicateHashSpace(trace, 2);
    assertThat(twice).hasSize(8);
    assertThat(twice.get(6).hashIds()).containsExactly(0, 1, 4);
    assertThat(twice.get(7).hashIds()).containsExactly(5, 6, 9);
    assertThat(twice.get(7).sessionId()).isEqualTo("a#1");
    assertThat(TraceSession.of(twice)).hasSize(6);
    TraceStatistics once = TraceStatistics.of(trace);
    TraceStatistics both = TraceStatistics.of(twice);
    assertThat(both.uniqueBlocks()).isEqualTo(2 * once.uniqueBlocks());
    assertThat(both.reusableShare()).isEqualTo(once.reusableShare());
  }

  @Test
  void depthMultipliesPrompts() {
    TraceRequest partial = new TraceRequest(0, "x", 0, 6, 5, new long[] {2, 7}, 4, "");
    TraceRequest deep = TraceTransforms.expandPrefixDepth(List.of(partial), 3).get(0);
    assertThat(deep.inputTokens()).isEqualTo(18);
    assertThat(deep.outputTokens()).isEqualTo(5);
    assertThat(deep.hashIds()).containsExactly(6, 7, 8, 21, 22);
  }

  @Test
  void jitterMovesSessionsAsAWhole() {
    List<TraceRequest> moved = TraceTransforms.jitter(trace, 10, 7);
    assertThat(moved.get(3).arrivalMs() - moved.get(0).arrivalMs()).isEqualTo(400);
    assertThat(moved.get(1).arrivalMs()).isBetween(200.0, 210.0);
    assertThat(moved).isEqualTo(TraceTransforms.jitter(trace, 10, 7));
  }

  @Test
  void factorsMustBePositive() {
    assertThatThrownBy(() -> TraceTransforms.speedUp(trace, 0)).hasMessageContaining("ratio");
    assertThatThrownBy(() -> TraceTransforms.rescaleSpan(trace, -1)).hasMessageContaining("spanMs");
    assertThatThrownBy(() -> TraceTransforms.duplicateHashSpace(trace, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("copies must be more than 0");
  }
}
