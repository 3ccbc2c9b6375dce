package dev.warmpath.fake.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The study on Mooncake's whole traces, which are too large to come along: {@code WARMPATH_TRACES}
 * names the folder with {@code conversation_trace.jsonl} and {@code synthetic_trace.jsonl}.
 */
class StudyTracesTest {
  private static StudyWorkload workload(String name, double speedup, long seed) throws IOException {
    String folder = System.getProperty("WARMPATH_TRACES", System.getenv("WARMPATH_TRACES"));
    assumeTrue(folder != null, "skipped: WARMPATH_TRACES names no folder with Mooncake's traces");
    Path traces = Path.of(folder);
    assumeTrue(
        Files.isReadable(traces.resolve("conversation_trace.jsonl"))
            && Files.isReadable(traces.resolve("synthetic_trace.jsonl")),
        () -> "skipped: " + folder + " lacks a trace");
    return StudyWorkload.draw(name, speedup, 16, seed, traces);
  }

  /** What the file itself allows in the measured window is 0.3941. */
  @Test
  void affinityWithUnboundedCachesFindsAllThatCanBeFound() throws IOException {
    StudyResult result =
        Study.run(
            StudySettings.STUDY.withCacheTokens(20_000_000), "sesshash", workload("conv", 10, 1));
    assertThat(result.hitRate()).isCloseTo(0.3940, within(0.0005));
  }

  /** Means of three seeds in the study's tables. */
  @ParameterizedTest
  @CsvSource({
    "cache_aware, conv, 10, 8, 0.123, 609, 3082",
    "linear, conv, 10, 1, 0.352, 317, 2302",
    "linear, conv, 10, 32, 0.084, 688, 3314",
    "dynamo, conv, 10, 8, 0.093, 536, 2907",
    "chwbl_deep, conv, 10, 8, 0.271, 492, 2994",
    "linear_ev, conv, 10, 8, 0.351, 422, 2751",
    "dynamo_ev, conv, 10, 8, 0.217, 421, 2690",
    "llmd_ev, conv, 10, 8, 0.342, 517, 3023",
    "ca_shared, conv, 10, 8, 0.345, 522, 3048",
    "oracle, conv, 10, 8, 0.288, 223, 1671",
    "oracle2, conv, 10, 8, 0.316, 219, 1665",
    "cache_aware, synth, 12, 1, 0.721, 193, 1432",
    "linear_ev, synth, 12, 8, 0.718, 268, 1930",
    "ca_shared, synth, 12, 8, 0.721, 287, 1979",
    "oracle2, synth, 12, 8, 0.705, 148, 1134",
  })
  void comesToWhatTheStudyCameTo(
      String policy,
      String workload,
      double speedup,
      int clients,
      double hit,
      double mean,
      double p99)
      throws IOException {
    double hits = 0;
    double means = 0;
    double tails = 0;
    for (int seed = 1; seed <= 3; seed++) {
      StudyResult result =
          Study.run(
              StudySettings.STUDY.withClients(clients).withSeed(seed),
              policy,
              workload(workload, speedup, seed));
      hits += result.hitRate() / 3;
      means += result.meanMs() / 3;
      tails += result.p99Ms() / 3;
    }
    assertThat(hits).isCloseTo(hit, within(0.01));
    assertThat(means).isCloseTo(mean, within(0.05 * mean));
    assertThat(tails).isCloseTo(p99, within(0.1 * p99));
  }
}
