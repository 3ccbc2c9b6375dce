package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warmpath.fake.lab.FleetRuns.Cell;
import dev.warmpath.fake.study.StudyPolicies;
import dev.warmpath.fake.study.StudyResult;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.policy.HomingSettings;
import dev.warmpath.policy.Policies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What {@code homing} has to come to on the fleet study's own fleet, seeds 1 to 3: 16 workers, up
 * to 32 clients, the whole traces. Takes most of an hour: runs where {@code warmpath.fleet} is
 * {@code full} and {@code WARMPATH_TRACES} names the folder with Mooncake's traces. 32 clients that
 * hear of every cache keep 2 GB of heap alive. {@link FleetShortTest} has what runs always.
 */
class FleetAcceptanceTest {
  private static FleetRuns runs;

  /**
   * The synthetic trace has so few prompts that where hashing puts them decides its 99th
   * percentile: of one placement it is 1.5 to 2.3 s, and three are too few to tell.
   */
  private static FleetRuns placements;

  /** As the study has it: seeds draw arrivals, clients and polls, and the trace is as it is. */
  private static FleetRuns asNamed;

  @BeforeAll
  static void findTraces() {
    assumeTrue(
        "full".equals(System.getProperty("warmpath.fleet")),
        "skipped: -Dwarmpath.fleet=full runs the whole fleet study");
    String folder = System.getProperty("WARMPATH_TRACES", System.getenv("WARMPATH_TRACES"));
    assumeTrue(
        folder != null && Files.isReadable(Path.of(folder, "conversation_trace.jsonl")),
        "skipped: WARMPATH_TRACES names no folder with Mooncake's traces");
    runs = new FleetRuns(StudySettings.STUDY, 3, Path.of(folder));
    placements = new FleetRuns(StudySettings.STUDY, 12, Path.of(folder));
    asNamed = new FleetRuns(StudySettings.STUDY, 3, Path.of(folder), true);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 32})
  void conversationsFindTheirCachesWithAnyNumberOfClients(int clients) {
    Cell is = runs.homing("sess", 14, clients);
    Cell byId = runs.frozen("sesshash", "sess", 14, clients);
    assertThat(is.hit()).isGreaterThanOrEqualTo(0.97 * runs.homing("sess", 14, 1).hit());
    assertThat(is.hit()).isGreaterThanOrEqualTo(0.97 * byId.hit());
    assertThat(is.ttft()).isLessThanOrEqualTo(1.10 * byId.ttft());
    assertThat(is.mean(StudyResult::cov)).isLessThanOrEqualTo(0.08);
  }

  @Test
  void eightClientsDoWhatPrivateTreesCanNot() {
    Cell is = runs.homing("sess", 14, 8);
    Cell trees = runs.frozen("cache_aware", "sess", 14, 8);
    assertThat(is.hit()).isGreaterThanOrEqualTo(1.35 * trees.hit());
    assertThat(is.ttft()).isLessThanOrEqualTo(0.5 * trees.ttft());
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 32})
  void documentsAreFoundAgain(int clients) {
    Cell is = runs.homing("rag", 16, clients);
    Cell hash = runs.frozen("chwbl_deep", "rag", 16, clients);
    assertThat(is.hit()).isGreaterThanOrEqualTo(0.95 * runs.homing("rag", 16, 1).hit());
    assertThat(is.ttft()).isLessThanOrEqualTo(0.6 * hash.ttft());
    assertThat(is.p99()).isLessThanOrEqualTo(0.7 * hash.p99());
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 32})
  void theConversationTraceDoesNotCollapseOnItsCommonBlock(int clients) {
    Cell is = runs.homing("conv", 10, clients);
    assertThat(is.mean(StudyResult::maxShare)).isLessThanOrEqualTo(2.0 / 16);
    assertThat(is.hit()).isGreaterThanOrEqualTo(0.88 * runs.frozen("linear", "conv", 10, 1).hit());
    assertThat(is.ttft()).isLessThanOrEqualTo(0.85 * runs.bestPrivate("conv", 10, clients).ttft());
    assertThat(is.ttft())
        .isLessThanOrEqualTo(0.85 * runs.frozen("sesshash", "conv", 10, clients).ttft());
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 32})
  void theSyntheticTraceBeatsWhoKnowsOnlyHisOwn(int clients) {
    for (FleetRuns of : List.of(asNamed, placements)) {
      Cell is = of.homing("synth", 12, clients);
      Cell best = of.bestPrivate("synth", 12, clients);
      assertThat(is.hit()).isGreaterThanOrEqualTo(0.93 * of.homing("synth", 12, 1).hit());
      assertThat(is.ttft()).isLessThanOrEqualTo(0.65 * best.ttft());
      assertThat(is.p99()).isLessThanOrEqualTo(0.75 * best.p99());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 32})
  void aCrowdOnOnePrefixIsSpread(int clients) {
    Cell is = runs.homing("flash", 8, clients);
    Cell byId = runs.frozen("sesshash", "flash", 8, clients);
    assertThat(is.p99()).isLessThanOrEqualTo(1.25 * byId.p99());
    assertThat(is.ttft()).isLessThanOrEqualTo(0.85 * runs.bestPrivate("flash", 8, clients).ttft());
    assertThat(is.mean(StudyResult::cov)).isLessThanOrEqualTo(0.15);
  }

  @ParameterizedTest
  @CsvSource({
    "sess, 14, 1", "conv, 10, 1", "rag, 16, 1", "flash, 8, 1", "synth, 12, 1",
    "sess, 14, 8", "conv, 10, 8", "rag, 16, 8", "flash, 8, 8", "synth, 12, 8",
    "sess, 14, 32", "conv, 10, 32", "rag, 16, 32", "flash, 8, 32", "synth, 12, 32"
  })
  void whoHearsOfTheCachesIsAsGoodAsTheBestWhoDo(String workload, double factor, int clients) {
    Cell is = runs.frozen("warmpath:homing" + FleetSuite.EVENTS, workload, factor, clients);
    double alone =
        StudyPolicies.PRIVATE.stream()
            .mapToDouble(policy -> runs.frozen(policy, workload, factor, 1).hit())
            .max()
            .orElseThrow();
    assertThat(is.hit()).isGreaterThanOrEqualTo(0.93 * alone);
    double best =
        Stream.of("linear_ev", "dynamo_ev", "llmd_ev")
            .mapToDouble(heard -> runs.frozen(heard, workload, factor, clients).ttft())
            .min()
            .orElseThrow();
    assertThat(is.ttft()).isLessThanOrEqualTo(1.03 * best);
    Cell tuned = runs.frozen("linear_ev_tuned", workload, factor, clients);
    assertThat(is.ttft()).isLessThanOrEqualTo(1.10 * tuned.ttft());
  }

  @Test
  void oldTelemetryCostsLittle() {
    Cell fresh = runs.homing("sess", 14, 32);
    Cell old = runs.polled(1_000, "sess", 14, 32);
    assertThat(old.ttft()).isLessThanOrEqualTo(1.10 * fresh.ttft());
    assertThat(old.p99()).isLessThanOrEqualTo(1.2 * fresh.p99());
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.0093, 0.0372})
  void aWrongPriceOfATokenCostsLittle(double millisPerToken) {
    for (String workload : List.of("conv", "rag")) {
      double factor = workload.equals("conv") ? 10 : 16;
      Cell right = priced(0.0186, workload, factor);
      Cell wrong = priced(millisPerToken, workload, factor);
      assertThat(wrong.ttft()).as(workload).isLessThanOrEqualTo(1.25 * right.ttft());
    }
  }

  private static Cell priced(double millisPerToken, String workload, double factor) {
    HomingSettings of = HomingSettings.builder().millisPerToken(millisPerToken).build();
    return runs.own(
        "homing at " + millisPerToken,
        Policies.homing(of),
        workload,
        factor,
        8,
        drawn -> List.of());
  }

  @Test
  void lostCachesCostLittle() {
    Cell lost =
        runs.own(
            "homing with flushes",
            Policies.homing(),
            "sess",
            14,
            8,
            drawn ->
                IntStream.range(0, 8).mapToObj(w -> LabIncident.flush(150_000, 2 * w)).toList());
    assertThat(lost.hit()).isGreaterThanOrEqualTo(0.95 * runs.homing("sess", 14, 8).hit());
    assertThat(lost.mean(StudyResult::failed)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sess", "rag"})
  void withoutBranchesItIsMuchWorse(String workload) {
    double factor = workload.equals("sess") ? 14 : 16;
    HomingSettings of = HomingSettings.builder().branches(false).build();
    Cell without =
        runs.own(
            "homing without branches",
            Policies.homing(of),
            workload,
            factor,
            8,
            drawn -> List.of());
    assertThat(without.ttft())
        .isGreaterThanOrEqualTo(1.2 * runs.homing(workload, factor, 8).ttft());
  }

  /** The last of eight clients gets its first request 150 s after the others. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void aColdClientSoonFindsWhatItsPeersDo(long seed, @TempDir Path folder) throws IOException {
    StudySettings of = StudySettings.STUDY.withClients(8).withSeed(seed);
    StudyWorkload chats = StudyWorkload.draw("sess", 14, 16, seed, null);
    Path kept = folder.resolve("branches");
    ColdStart.learn(of, Policies.homing(), chats, kept);
    ColdStart cold = ColdStart.run(of, Policies.homing(), chats, null);
    ColdStart warm = ColdStart.run(of, Policies.homing(), chats, kept);
    System.out.printf(
        "first 30 s: %.3f cold, %.3f with its statistics; peers %.3f and %.3f%n",
        cold.joined(), warm.joined(), cold.peers(), warm.peers());
    assertThat(cold.joined()).isGreaterThanOrEqualTo(0.85 * cold.peers());
    assertThat(warm.joined()).isGreaterThanOrEqualTo(0.97 * warm.peers());
  }
}
