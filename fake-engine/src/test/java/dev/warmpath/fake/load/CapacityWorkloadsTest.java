package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CapacityWorkloadsTest {
  @Test
  void cyclicPromptsComeBackToEachPrefixAfterAllOthers() {
    List<TraceSession> drawn = Workloads.draw("cyclic", Map.of("groups", "7", "requests", "21"), 3);

    assertThat(drawn).hasSize(21);
    for (int i = 0; i < 14; i++) {
      long[] prompt = drawn.get(i).turns().get(0).hashIds();
      long[] again = drawn.get(i + 7).turns().get(0).hashIds();
      assertThat(Arrays.mismatch(prompt, again)).isEqualTo(3_072 / 64);
      assertThat(Arrays.mismatch(prompt, drawn.get(i + 1).turns().get(0).hashIds())).isZero();
    }
    assertThat(drawn).allMatch(session -> session.turns().get(0).inputTokens() == 4_096);
  }

  @Test
  void turnsHaveTheMeanLengthOfTheirDescription() {
    List<TraceSession> drawn = Workloads.draw("turns", Map.of(), 3);

    assertThat(drawn).hasSize(768);
    TraceSession whole = drawn.get(700);
    assertThat(whole.turns()).hasSize(8);
    assertThat(whole.turns().stream().mapToInt(TraceRequest::inputTokens).average().orElse(0))
        .isEqualTo(4_768);
    assertThat(whole.turns().get(7).inputTokens()).isEqualTo(512 + 8 * 896 + 7 * 64);
  }

  @Test
  void firstUsersAreMetInTheirCourse() {
    List<TraceSession> drawn = Workloads.draw("turns", Map.of(), 3);

    assertThat(drawn.subList(0, 192).stream().mapToInt(s -> s.turns().size()).average().orElse(0))
        .isCloseTo(4.5, within(0.5));
    assertThat(drawn.subList(192, 768)).allMatch(session -> session.turns().size() == 8);
  }
}
