package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.worker.EngineKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is decided in virtual time is decided live, by ranks with threads of their own. */
class LiveEquivalenceTest {
  private record Choice(long request, String worker, int matchedTokens) {
    static Choice of(LabDecision decision) {
      return new Choice(decision.request(), decision.worker(), decision.matchedTokens());
    }
  }

  private static List<Choice> choices(
      LabSettings settings, String policy, List<TraceSession> sessions, RankDrives drives) {
    List<Choice> all = new ArrayList<>();
    try (LabRun run =
        new LabRun(
            settings,
            LabPolicy.parse(policy).variants().get(0),
            LabObserver.ofDecisions(decision -> all.add(Choice.of(decision))),
            drives)) {
      assertThat(run.run(policy, sessions).load().failed()).isZero();
    }
    return all;
  }

  @ParameterizedTest
  @CsvSource({
    "linear_cost, VLLM, 1",
    "cache_aware, VLLM, 2",
    "power_of_two, SGLANG, 1",
    "linear_cost, SGLANG, 3"
  })
  void decisionsAreTheSameOneByOne(String policy, EngineKind engine, int clients) {
    LabSettings settings =
        LabSettings.builder()
            .fleet(new FleetSpec(3, 0, 0))
            .engine(engine)
            .clients(clients)
            .core(CoreOptions.builder().numBlocks(128).build())
            .seed(7)
            .speedup(3)
            .build();
    List<TraceSession> sessions = Traffic.chats(80, 21);

    List<Choice> virtual = choices(settings, policy, sessions, RankDrives.VIRTUAL);

    assertThat(virtual).hasSize(240);
    assertThat(choices(settings, policy, sessions, new LiveDrives())).isEqualTo(virtual);
  }
}
