package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TraceSessionTest {
  @Test
  void tokensAreIdsRepeated() {
    TraceRequest request = new TraceRequest(0, "s", 0, 6, 2, new long[] {1, 2}, 4, "");
    assertThat(new TraceSession("s", 0, List.of(request)).promptTokens(0))
        .containsExactly(1, 1, 1, 1, 2, 2);
  }

  @Test
  void wideIdsBecomeTokensToo() {
    TraceRequest request =
        new TraceRequest(0, "s", 0, 3, 2, new long[] {-5, 1L << 40, 1L << 41}, 1, "");
    int[] tokens = new TraceSession("s", 0, List.of(request)).promptTokens(0);
    assertThat(tokens).doesNotHaveDuplicates();
    assertThat(tokens).containsOnly(Arrays.stream(tokens).filter(t -> t >= 0).toArray());
  }

  @Test
  void anAgentsTurnsGrowByAnswersAndResults() {
    TraceSession session =
        new SessionBuilder("agent", "p", 1_000, new BlockIds())
            .turn(100, 10, 0)
            .turn(30, 20, 500)
            .turn(40, 50, 1_250)
            .build();
    assertThat(session.turns())
        .extracting(
            TraceRequest::inputTokens,
            TraceRequest::outputTokens,
            TraceRequest::delayAfterPreviousMs)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(100, 10, 0.0),
            org.assertj.core.groups.Tuple.tuple(140, 20, 500.0),
            org.assertj.core.groups.Tuple.tuple(200, 50, 1_250.0));
    assertThat(session.turns())
        .extracting(TraceRequest::arrivalMs)
        .containsExactly(1_000.0, 1_500.0, 2_750.0);
  }

  @Test
  void everyPromptBeginsWithTheOneBeforeAndItsAnswer() {
    for (String workload : List.of("sessions", "closed", "flash-crowd", "agents")) {
      for (TraceSession session : Workloads.draw(workload, Map.of(), 4)) {
        for (int turn = 1; turn < session.turns().size(); turn++) {
          int[] before = session.promptTokens(turn - 1);
          int[] answer = session.outputTokens(turn - 1);
          int[] prompt = session.promptTokens(turn);
          assertThat(Arrays.copyOf(prompt, before.length)).isEqualTo(before);
          assertThat(Arrays.copyOfRange(prompt, before.length, before.length + answer.length))
              .isEqualTo(answer);
          assertThat(prompt.length).isGreaterThan(before.length + answer.length);
        }
      }
    }
  }

  @Test
  void sessionsAreTakenApartAndPutTogether() {
    List<TraceSession> sessions = Workloads.draw("agents", Map.of("duration", "20"), 9);
    List<TraceRequest> requests = TraceSession.requests(sessions);
    assertThat(requests)
        .isSortedAccordingTo(java.util.Comparator.comparingDouble(TraceRequest::arrivalMs));
    List<TraceSession> again = TraceSession.of(requests);
    assertThat(again)
        .extracting(TraceSession::turns)
        .isEqualTo(sessions.stream().map(TraceSession::turns).toList());
  }

  @Test
  void idsMustCoverThePrompt() {
    assertThatThrownBy(() -> new TraceRequest(0, "s", 0, 513, 1, new long[] {1}, 512, ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("513 tokens in blocks of 512 do not have 1 hash ids");
    assertThatThrownBy(() -> new TraceSession("s", 0, List.of())).hasMessageContaining("no turns");
  }
}
