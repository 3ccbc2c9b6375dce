package dev.warmpath.fake.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.text.FakeTokenizer.Turn;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class FakeTokenizerTest {
  @Property(seed = "13")
  void fourBytesAreAToken(@ForAll String text) {
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    assertThat(FakeTokenizer.encode(text)).hasSize((bytes + 3) / 4);
    assertThat(Arrays.stream(FakeTokenizer.encode(text))).allMatch(token -> token >= 0);
  }

  @Property(seed = "13")
  void appendingChangesAtMostTheLastToken(@ForAll String text, @ForAll String more) {
    int[] before = FakeTokenizer.encode(text);
    int[] after = FakeTokenizer.encode(text + more);
    // a lone surrogate at the seam would be encoded differently
    if (text.isEmpty() || !Character.isSurrogate(text.charAt(text.length() - 1))) {
      int kept = Math.max(0, before.length - 1);
      assertThat(Arrays.copyOf(after, kept)).isEqualTo(Arrays.copyOf(before, kept));
    }
  }

  @Property(seed = "13")
  void conversationIsAPrefixOfItsContinuation(
      @ForAll String question, @ForAll String answer, @ForAll String next) {
    int[] first = FakeTokenizer.encodeChat(List.of(new Turn("user", question)), true);
    int[] second =
        FakeTokenizer.encodeChat(
            List.of(
                new Turn("user", question), new Turn("assistant", answer), new Turn("user", next)),
            true);
    assertThat(Arrays.copyOf(second, first.length)).isEqualTo(first);
  }

  @Property(seed = "13")
  void generatedTextComesBackAsTheTokensThatWereGenerated(@ForAll long seed) {
    PlannedText answer = PlannedText.plan(seed, 33, List.of());
    assertThat(FakeTokenizer.encode(answer.text(0, 33))).isEqualTo(answer.tokens());
  }

  @Test
  void rolesAndLengthsMatter() {
    assertThat(FakeTokenizer.encodeChat(List.of(new Turn("user", "hi")), false))
        .isNotEqualTo(FakeTokenizer.encodeChat(List.of(new Turn("system", "hi")), false));
    assertThat(FakeTokenizer.encode("a")).isNotEqualTo(FakeTokenizer.encode("a\0"));
    assertThat(FakeTokenizer.encode("")).isEmpty();
  }
}
