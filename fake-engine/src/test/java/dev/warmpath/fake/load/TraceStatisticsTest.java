package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TraceStatisticsTest {
  private static TraceRequest row(double at, int input, int output, long... ids) {
    return new TraceRequest(at, "s" + at + input, 0, input, output, ids, 512, "");
  }

  @Test
  void countsRowsBlocksAndArrivals() {
    TraceStatistics is =
        TraceStatistics.of(
            List.of(
                row(1_000, 1_500, 10, 1, 2, 3),
                row(1_000, 1_024, 30, 1, 2),
                row(4_000, 513, 20, 7, 3),
                row(5_000, 1_536, 40, 1, 4, 3)));
    assertThat(is.rows()).isEqualTo(4);
    assertThat(is.sessions()).isEqualTo(4);
    assertThat(is.spanSeconds()).isEqualTo(4);
    assertThat(is.requestsPerSecond()).isEqualTo(1);
    assertThat(is.input())
        .isEqualTo(new TraceStatistics.Lengths(4_573, 1_143.25, 1_024, 1_500, 1_500, 1_536));
    assertThat(is.output()).isEqualTo(new TraceStatistics.Lengths(100, 25, 20, 30, 30, 40));
    assertThat(is.blocks()).isEqualTo(10);
    assertThat(is.uniqueBlocks()).isEqualTo(5);
    assertThat(is.distinctFirstBlocks()).isEqualTo(2);
    assertThat(is.distinctArrivals()).isEqualTo(3);
    assertThat(is.mostAtOnce()).isEqualTo(2);
    // Blocks 1 and 2 of the second row, and block 1 of the last: 3 there stands behind a new block.
    assertThat(is.reusableShare()).isEqualTo(0.3, within(1e-12));
  }

  @Test
  void percentilesAreValuesOfRows() {
    List<TraceRequest> rows =
        IntStream.rangeClosed(1, 101).mapToObj(i -> row(i, i, i * 2, i)).toList();
    assertThat(TraceStatistics.of(rows).input())
        .isEqualTo(new TraceStatistics.Lengths(5_151, 51, 51, 91, 100, 101));
  }

  @Test
  void theBundledSampleIsTheBeginningOfTheConversation() {
    TraceStatistics is = TraceStatistics.of(MooncakeTrace.sample());
    assertThat(is.rows()).isEqualTo(500);
    assertThat(is.distinctFirstBlocks()).isEqualTo(1);
    assertThat(is.requestsPerSecond()).isBetween(2.0, 6.0);
  }

  @Test
  void anEndlessCacheOfOneNodeHitsTheReusableShare() {
    for (String workload : List.of("rag", "shared-prefix", "agents", "sessions")) {
      List<TraceRequest> rows =
          TraceSession.requests(Workloads.draw(workload, Map.of("rate", "4"), 3));
      double share = TraceStatistics.of(rows).reusableShare();
      assertThat(PrefixHits.roundRobin(rows, 1, 0)).as(workload).isEqualTo(share, within(1e-12));
      assertThat(PrefixHits.affinity(rows, 4, 0).ratio())
          .as(workload)
          .isGreaterThan(PrefixHits.roundRobin(rows, 4, 0));
    }
  }

  @Test
  void nothingHasNoStatistics() {
    assertThatThrownBy(() -> TraceStatistics.of(List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
