package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkloadsTest {
  private static List<TraceRequest> requests(List<TraceSession> sessions) {
    return TraceSession.requests(sessions);
  }

  private static String text(List<TraceSession> sessions) {
    return requests(sessions).stream()
        .map(request -> request + java.util.Arrays.toString(request.hashIds()))
        .collect(Collectors.joining("\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sessions",
        "rag",
        "knowledge",
        "flash-crowd",
        "conversation",
        "closed",
        "shared-prefix",
        "agents"
      })
  void aSeedDecidesEverything(String name) {
    List<TraceSession> drawn = Workloads.draw(name, Map.of(), 11);
    assertThat(drawn).isNotEmpty();
    assertThat(drawn)
        .isSortedAccordingTo(java.util.Comparator.comparingDouble(TraceSession::arrivalMs));
    assertThat(text(Workloads.draw(name, Map.of(), 11))).isEqualTo(text(drawn));
    assertThat(text(Workloads.draw(name, Map.of(), 12))).isNotEqualTo(text(drawn));
  }

  @Test
  void everyWorkloadDescribesItself() {
    assertThat(Workloads.descriptions())
        .extracting(WorkloadDescription::name)
        .containsExactlyInAnyOrderElementsOf(Workloads.names());
    for (WorkloadDescription description : Workloads.descriptions()) {
      assertThat(description.parameters()).isNotEmpty();
      assertThat(description.parameters()).allMatch(parameter -> !parameter.meaning().isBlank());
    }
  }

  @Test
  void ratesAreRequestsASecond() {
    Map<String, String> set = Map.of("rate", "20", "duration", "300");
    for (String name : List.of("sessions", "rag")) {
      int n = requests(Workloads.draw(name, set, 2)).size();
      assertThat(n / 300.0).as(name).isEqualTo(20, within(2.0));
    }
  }

  @Test
  void sharedPrefixHasSglangsSizes() {
    List<TraceRequest> rows = requests(Workloads.draw("shared-prefix", Map.of(), 1));
    assertThat(rows).hasSize(64 * 16);
    assertThat(rows).allMatch(row -> row.inputTokens() == 2_048 + 128 && row.outputTokens() == 256);
    assertThat(TraceStatistics.of(rows).distinctFirstBlocks()).isEqualTo(64);
    Map<String, Long> groups =
        rows.stream().collect(Collectors.groupingBy(TraceRequest::program, Collectors.counting()));
    assertThat(groups.values()).containsOnly(16L);
    // 32 of 34 blocks are shared, and each group's first prompt has to be computed.
    assertThat(TraceStatistics.of(rows).reusableShare())
        .isEqualTo(32.0 / 34 * 15 / 16, within(1e-12));
  }

  @Test
  void sharedPrefixKnowsRangesPopularityAndTurns() {
    Map<String, String> set =
        Map.of("range", "0.5", "zipf", "1.2", "turns", "3", "think", "2", "prompts", "4");
    List<TraceSession> sessions = Workloads.draw("shared-prefix", set, 1);
    assertThat(sessions).hasSize(256);
    assertThat(sessions).allMatch(session -> session.turns().size() == 3);
    List<TraceRequest> rows = requests(sessions);
    assertThat(rows).allMatch(row -> row.outputTokens() >= 128 && row.outputTokens() <= 256);
    assertThat(rows).anyMatch(row -> row.outputTokens() < 256);
    Map<String, Long> groups = new HashMap<>();
    rows.forEach(row -> groups.merge(row.program(), 1L, Long::sum));
    assertThat(groups.get("group-0")).isGreaterThan(3 * 256 / 64 * 2);
  }

  @Test
  void ragSharesTheCommonPromptAndPopularDocuments() {
    List<TraceSession> sessions =
        Workloads.draw("rag", Map.of("documents", "50", "duration", "120"), 6);
    assertThat(sessions).allMatch(session -> session.systemTokens() == 512);
    List<TraceRequest> rows = requests(sessions);
    TraceStatistics is = TraceStatistics.of(rows);
    assertThat(is.distinctFirstBlocks()).isEqualTo(1);
    for (TraceRequest row : rows) {
      for (TraceRequest other : rows.subList(0, 20)) {
        int shared = 0;
        while (shared < Math.min(row.hashIds().length, other.hashIds().length)
            && row.hashIds()[shared] == other.hashIds()[shared]) {
          shared++;
        }
        if (row.program().equals(other.program())) {
          assertThat(shared).isGreaterThanOrEqualTo(8 + 4);
        } else {
          assertThat(shared).isEqualTo(8);
        }
      }
    }
    assertThat(is.reusableShare()).isGreaterThan(0.7);
  }

  @Test
  void theCrowdComesAllOnOnePrefix() {
    List<TraceSession> sessions = Workloads.draw("flash-crowd", Map.of("duration", "60"), 8);
    List<TraceSession> crowd =
        sessions.stream().filter(session -> session.id().startsWith("flash-")).toList();
    assertThat(crowd.size()).isBetween(180, 300);
    assertThat(crowd).allMatch(session -> session.arrivalMs() >= 30_000);
    TraceStatistics is = TraceStatistics.of(requests(crowd));
    assertThat(is.distinctFirstBlocks()).isEqualTo(1);
    assertThat(is.input().p50()).isBetween(6_144 + 64, 6_144 + 319);
  }

  @Test
  void traceParametersTransform() {
    List<TraceRequest> rows = MooncakeTrace.sample().subList(0, 20);
    List<TraceSession> sessions =
        Workloads.trace(rows, Map.of("copies", "3", "depth", "2", "speedup", "10"), 1);
    assertThat(sessions).hasSize(60);
    TraceStatistics before = TraceStatistics.of(rows);
    TraceStatistics after = TraceStatistics.of(requests(sessions));
    assertThat(after.input().total()).isEqualTo(before.input().total() * 3 * 2);
    assertThat(after.spanSeconds()).isEqualTo(before.spanSeconds() / 10, within(1e-9));
  }

  @Test
  void wrongParametersAreNamed() {
    assertThatThrownBy(() -> Workloads.draw("nightly", Map.of(), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("unknown workload 'nightly'")
        .hasMessageContaining("flash-crowd");
    assertThatThrownBy(() -> Workloads.draw("rag", Map.of("docs", "1"), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no parameter 'docs'")
        .hasMessageContaining("documents");
    assertThatThrownBy(() -> Workloads.draw("rag", Map.of("rate", "-1"), 1))
        .hasMessageContaining("rate=-1 must be a number of at least 0");
    assertThatThrownBy(() -> Workloads.draw("synthetic", Map.of(), 1))
        .hasMessageContaining("--trace");
  }
}
