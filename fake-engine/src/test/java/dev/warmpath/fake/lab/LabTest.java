package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.worker.EngineKind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LabTest {
  private static final List<TraceSession> CHATS = Traffic.chats(60, 5);

  private static LabSettings.Builder small() {
    return LabSettings.builder()
        .fleet(new FleetSpec(3, 0, 0))
        .core(CoreOptions.builder().numBlocks(256).build());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "round_robin",
        "random",
        "power_of_two",
        "shortest_queue",
        "cache_aware",
        "linear_cost",
        "session>cache_aware",
        Lab.ORACLE
      })
  void everyRequestIsAnsweredUnderEveryPolicy(String policy) {
    LabResult result = Lab.run(small().clients(2).build(), policy, CHATS);

    LoadResult load = result.load();
    assertThat(load.policy()).isEqualTo(policy);
    assertThat(load.requests()).isEqualTo(180);
    assertThat(load.failed()).isZero();
    assertThat(load.perWorker().values().stream().mapToLong(n -> n).sum()).isEqualTo(180);
    assertThat(load.promptTokens())
        .isEqualTo(
            CHATS.stream()
                .flatMap(session -> session.turns().stream())
                .mapToLong(TraceRequest::inputTokens)
                .sum());
    assertThat(load.completionTokens())
        .isEqualTo(
            CHATS.stream()
                .flatMap(session -> session.turns().stream())
                .mapToLong(TraceRequest::outputTokens)
                .sum());
    assertThat(load.ttft().mean()).isPositive().isLessThan(load.endToEnd().mean());
    assertThat(result.virtualSeconds()).isGreaterThan(30);
  }

  @Test
  void theSameSeedGivesTheSameDecisionsAndAnotherSeedOthers() {
    LabSettings settings = small().clients(3).seed(11).build();
    List<LabDecision> first = Lab.decisions(settings, "linear_cost", CHATS);

    assertThat(first).hasSize(180);
    assertThat(Lab.decisions(settings, "linear_cost", CHATS)).isEqualTo(first);
    assertThat(Lab.decisions(small().clients(3).seed(12).build(), "linear_cost", CHATS))
        .isNotEqualTo(first);
  }

  @Test
  void anIdleFleetAnswersAsItsTimingModelSays() {
    LabResult result =
        Lab.run(
            small().roundTripMs(4).build(),
            "round_robin",
            List.of(Traffic.single(0, 1_024, 2), Traffic.single(1_000, 1_024, 2)));

    // 1,024 tokens of prefill and the decode step with 16 of 256 blocks in use, then the network.
    double usage = 16.0 / 256;
    double decode = -25.74 * usage * usage + 54.01 * usage + 5.74;
    assertThat(result.load().ttft().mean()).isCloseTo(32.490712 + decode + 4, within(0.1));
  }

  @Test
  void knowingTheCachesBeatsTakingTurns() {
    LabSettings settings = small().build();
    LabResult turns = Lab.run(settings, "round_robin", CHATS);
    LabResult aware = Lab.run(settings, "cache_aware", CHATS);

    assertThat(aware.load().hitRate()).isGreaterThan(turns.load().hitRate() + 0.1);
    assertThat(aware.load().ttft().mean()).isLessThan(turns.load().ttft().mean());
  }

  @Test
  void aClosedLoopKeepsSoManyConversationsUnderWay() {
    LabResult result = Lab.run(small().concurrency(4).build(), "power_of_two", CHATS);

    assertThat(result.load().requests()).isEqualTo(180);
    assertThat(
            result.workers().get("http://worker-0:8000").stream()
                .mapToInt(sample -> sample.running() + sample.waiting())
                .max()
                .orElse(-1))
        .isBetween(0, 4);
  }

  @Test
  void aPromptThatFitsNoCacheIsAFailureAndTheOthersGoOn() {
    LabResult result =
        Lab.run(
            small().build(),
            "round_robin",
            List.of(Traffic.single(0, 20_000, 5), Traffic.single(10, 500, 5)));

    assertThat(result.load().requests()).isEqualTo(2);
    assertThat(result.load().errors()).containsExactly(java.util.Map.entry("RequestRejected", 1L));
  }

  @Test
  void deadlinesPassInVirtualTime() {
    LabResult result =
        Lab.run(
            small().deadline(Duration.ofMillis(200)).build(),
            "round_robin",
            List.of(Traffic.single(0, 500, 5_000), Traffic.single(10, 500, 2)));

    assertThat(result.load().failed()).isEqualTo(1);
    assertThat(result.load().errors()).containsKey("DeadlineExceeded");
    assertThat(result.virtualSeconds()).isLessThan(1);
  }

  @Test
  void admissionWaitsInVirtualTime() {
    List<TraceSession> burst =
        List.of(
            Traffic.single(0, 500, 100),
            Traffic.single(1, 500, 100),
            Traffic.single(2, 500, 100),
            Traffic.single(3, 500, 100));
    LabSettings one =
        small()
            .fleet(new FleetSpec(1, 0, 0))
            .admission(new AdmissionSettings(1, 100, Duration.ofSeconds(100)))
            .build();
    LabResult result = Lab.run(one, "round_robin", burst);
    LabResult free = Lab.run(small().fleet(new FleetSpec(1, 0, 0)).build(), "round_robin", burst);

    assertThat(result.load().failed()).isZero();
    assertThat(result.virtualSeconds()).isGreaterThan(2 * free.virtualSeconds());
  }

  @Test
  void aFullAdmissionQueueRefuses() {
    LabSettings none =
        small()
            .fleet(new FleetSpec(1, 0, 0))
            .admission(new AdmissionSettings(1, 0, Duration.ofSeconds(100)))
            .build();
    LabResult result =
        Lab.run(
            none, "round_robin", List.of(Traffic.single(0, 500, 100), Traffic.single(1, 500, 100)));

    assertThat(result.load().errors()).containsExactly(java.util.Map.entry("RouterOverloaded", 1L));
  }

  @Test
  void dataParallelRanksAreTargetsOfTheirOwn() {
    List<LabDecision> decisions =
        Lab.decisions(small().fleet(new FleetSpec(1, 0, 0)).ranks(2).build(), "round_robin", CHATS);

    assertThat(decisions.stream().map(LabDecision::rank).distinct())
        .containsExactlyInAnyOrder(0, 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"VLLM", "SGLANG"})
  void prefillAndDecodeWorkersHandPromptsOver(EngineKind engine) {
    LabSettings settings =
        small().fleet(FleetSpec.parse("2p2d")).engine(engine).decodeBlocks(2_048).build();
    List<LabDecision> prefill = Lab.decisions(settings, "cache_aware", CHATS);
    LabResult result = Lab.run(settings, "cache_aware", CHATS);

    assertThat(result.load().failed()).isZero();
    assertThat(result.load().requests()).isEqualTo(180);
    assertThat(result.load().perWorker())
        .containsOnlyKeys("http://worker-0:8000", "http://worker-1:8000");
    assertThat(result.load().hitRate()).isGreaterThan(0.3);
    assertThat(prefill.stream().map(LabDecision::worker).distinct()).hasSize(2);
    assertThat(result.workers().get("http://worker-2:8000"))
        .anyMatch(sample -> sample.running() > 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"VLLM", "SGLANG"})
  void aPairThatIsGivenUpLeavesBothWorkers(EngineKind engine) {
    LabResult result =
        Lab.run(
            small()
                .fleet(FleetSpec.parse("1p1d"))
                .engine(engine)
                .deadline(Duration.ofMillis(200))
                .build(),
            "round_robin",
            List.of(Traffic.single(0, 500, 5_000), Traffic.single(3_000, 500, 2)));

    assertThat(result.load().errors()).containsExactly(java.util.Map.entry("DeadlineExceeded", 1L));
    assertThat(result.load().requests()).isEqualTo(2);
    assertThat(result.workers().values())
        .hasSize(2)
        .allSatisfy(
            samples ->
                assertThat(samples)
                    .filteredOn(sample -> sample.seconds() >= 1 && sample.seconds() < 3)
                    .isNotEmpty()
                    .allMatch(sample -> sample.running() + sample.waiting() == 0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"VLLM", "SGLANG"})
  void pairsAreChosenByTheClientsOwnSelection(EngineKind engine) {
    LabSettings settings = small().fleet(FleetSpec.parse("2p2d")).engine(engine).build();
    List<LabDecision> decisions = Lab.decisions(settings, "round_robin", CHATS);

    assertThat(decisions.stream().filter(each -> each.worker().equals("http://worker-0:8000")))
        .as("prefill takes turns of its own, whatever decode does")
        .hasSize(90);
    assertThat(Lab.decisions(settings, "round_robin", CHATS)).isEqualTo(decisions);
  }

  @Test
  void sessionKeysKeepConversationsTogether() {
    LabSettings keyed = small().clients(4).sessionKeys(true).build();
    LabSettings plain = small().clients(4).build();

    assertThat(Lab.run(keyed, "session", CHATS).load().hitRate())
        .isGreaterThan(Lab.run(plain, "session", CHATS).load().hitRate() + 0.1);
  }

  @Test
  void figuresBeginAfterTheWarmUp() {
    LabResult all = Lab.run(small().build(), "cache_aware", CHATS);
    LabResult later = Lab.run(small().warmupRequests(80).build(), "cache_aware", CHATS);

    assertThat(later.load().requests()).isEqualTo(100);
    assertThat(later.load().hitRate()).isGreaterThan(all.load().hitRate());
    assertThat(later.load().seconds()).isLessThan(all.load().seconds());
  }

  @Test
  void runsLeaveNoThreadBehind() {
    Lab.run(small().build(), "round_robin", CHATS.subList(0, 5));

    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("warmpath-lab"));
  }

  @Test
  void unknownPoliciesAreNamedWithThoseThatAre() {
    assertThatThrownBy(() -> Lab.run(small().build(), "no_such", CHATS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no_such")
        .hasMessageContaining("linear_cost")
        .hasMessageContaining("oracle");
  }

  @Test
  void settingsSayWhatIsWrong() {
    assertThatThrownBy(() -> small().clients(0).build()).hasMessageContaining("clients");
    assertThatThrownBy(() -> small().speedup(0).build()).hasMessageContaining("speedup");
    assertThatThrownBy(() -> small().fleet(new FleetSpec(1, 1, 1)).build())
        .hasMessageContaining("2p2d");
    assertThatThrownBy(() -> small().fleet(new FleetSpec(0, 2, 0)).build())
        .hasMessageContaining("2p2d");
  }
}
