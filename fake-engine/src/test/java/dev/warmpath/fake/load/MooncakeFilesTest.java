package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The whole Mooncake FAST'25 traces, which are too large to come along: {@code WARMPATH_TRACES}
 * names the folder with {@code conversation_trace.jsonl} and {@code synthetic_trace.jsonl}.
 */
class MooncakeFilesTest {
  private static List<TraceRequest> trace(String name) throws IOException {
    String folder = System.getProperty("WARMPATH_TRACES", System.getenv("WARMPATH_TRACES"));
    assumeTrue(folder != null, "skipped: WARMPATH_TRACES names no folder with Mooncake's traces");
    Path file = Path.of(folder, name + "_trace.jsonl");
    assumeTrue(Files.isReadable(file), () -> "skipped: there is no " + file);
    return MooncakeTrace.read(file, Integer.MAX_VALUE);
  }

  @Test
  void conversation() throws IOException {
    TraceStatistics is = TraceStatistics.of(trace("conversation"));
    assertThat(is.rows()).isEqualTo(12_031);
    assertThat(is.spanSeconds()).isEqualTo(3_537.0, within(0.05));
    assertThat(is.requestsPerSecond()).isEqualTo(3.40, within(0.005));
    assertThat(is.input())
        .isEqualTo(
            new TraceStatistics.Lengths(
                144_793_823, is.input().mean(), 6_909, 27_367, 85_399, 126_195));
    assertThat(is.input().mean()).isEqualTo(12_035, within(0.5));
    assertThat(is.output().total()).isEqualTo(4_122_048);
    assertThat(is.output().mean()).isEqualTo(343, within(0.5));
    assertThat(is.output().p50()).isEqualTo(350);
    assertThat(is.output().p90()).isEqualTo(597);
    assertThat(is.uniqueBlocks()).isEqualTo(182_790);
    assertThat(is.blocks()).isEqualTo(288_500);
    assertThat(is.distinctFirstBlocks()).isEqualTo(1);
    assertThat(is.distinctArrivals()).isEqualTo(1_180);
    assertThat(is.mostAtOnce()).isEqualTo(28);
    assertThat(is.reusableShare()).isEqualTo(0.3664, within(5e-5));
  }

  @Test
  void synthetic() throws IOException {
    TraceStatistics is = TraceStatistics.of(trace("synthetic"));
    assertThat(is.rows()).isEqualTo(3_993);
    assertThat(is.spanSeconds()).isEqualTo(1_022.0, within(0.05));
    assertThat(is.requestsPerSecond()).isEqualTo(3.91, within(0.005));
    assertThat(is.input())
        .isEqualTo(
            new TraceStatistics.Lengths(
                61_194_628, is.input().mean(), 11_587, 38_596, 66_456, 191_378));
    assertThat(is.input().mean()).isEqualTo(15_325, within(0.5));
    assertThat(is.output().total()).isEqualTo(595_432);
    assertThat(is.output().p50()).isEqualTo(69);
    assertThat(is.output().p90()).isEqualTo(389);
    assertThat(is.uniqueBlocks()).isEqualTo(43_924);
    assertThat(is.blocks()).isEqualTo(121_877);
    assertThat(is.distinctFirstBlocks()).isEqualTo(2_211);
    assertThat(is.reusableShare()).isEqualTo(0.6396, within(5e-5));
  }

  @Test
  void blockHitsOfTheConversation() throws IOException {
    List<TraceRequest> trace = trace("conversation");
    assertThat(PrefixHits.roundRobin(trace, 1, 0)).isEqualTo(0.3664, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 2, 0)).isEqualTo(0.2706, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 4, 0)).isEqualTo(0.1918, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 4, 4_000)).isEqualTo(0.1103, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 4, 10_000)).isEqualTo(0.1586, within(5e-5));
    assertThat(PrefixHits.affinity(trace, 2, 0).ratio()).isEqualTo(0.3664, within(5e-5));
    assertThat(PrefixHits.affinity(trace, 4, 4_000).ratio()).isEqualTo(0.0858, within(5e-5));
    PrefixHits large = PrefixHits.affinity(trace, 4, 10_000);
    assertThat(large.ratio()).isEqualTo(0.2112, within(5e-5));
    // All rows begin with the same block: who only follows prefixes uses one node of four.
    assertThat(large.requests()).containsExactly(12_031, 0, 0, 0);
  }

  @Test
  void blockHitsOfTheSyntheticTrace() throws IOException {
    List<TraceRequest> trace = trace("synthetic");
    assertThat(PrefixHits.roundRobin(trace, 1, 0)).isEqualTo(0.6396, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 2, 0)).isEqualTo(0.5088, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 4, 0)).isEqualTo(0.3646, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 4, 4_000)).isEqualTo(0.1931, within(5e-5));
    assertThat(PrefixHits.roundRobin(trace, 4, 10_000)).isEqualTo(0.3155, within(5e-5));
    assertThat(PrefixHits.affinity(trace, 2, 0).ratio()).isEqualTo(0.6396, within(5e-5));
    assertThat(PrefixHits.affinity(trace, 4, 4_000).ratio()).isEqualTo(0.5280, within(2e-4));
    PrefixHits large = PrefixHits.affinity(trace, 4, 10_000);
    assertThat(large.ratio()).isEqualTo(0.6393, within(5e-5));
    assertThat(Arrays.stream(large.requests()).boxed().toList())
        .allMatch(n -> Math.abs(n - 998) <= 40);
  }
}
