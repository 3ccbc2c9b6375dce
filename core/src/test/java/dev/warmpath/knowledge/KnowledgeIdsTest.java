package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KnowledgeIdsTest {

  /** {@code printf 'abc' | sha256sum}. */
  private static final String ABC =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

  @ParameterizedTest
  @ValueSource(
      strings = {"abc", " abc\n", "\r\nabc\r", "\u3000abc\u00a0", "\u001cabc\u0085", "abc\u2028"})
  void whiteSpaceAtTheEndsIsNotKnowledge(String text) {
    assertThat(KnowledgeIds.of(text)).isEqualTo(ABC);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Abc", "a bc", "abc\u200b", "\ufeffabc", "a\nbc"})
  void anythingElseIs(String text) {
    assertThat(KnowledgeIds.of(text)).isNotEqualTo(ABC);
  }

  @Test
  void lineEndsWithinAreOne() {
    assertThat(KnowledgeIds.normalise("a\r\nb\rc\nd\n\r\n")).isEqualTo("a\nb\nc\nd");
    assertThat(KnowledgeIds.of("a\r\nb")).isEqualTo(KnowledgeIds.of("a\nb"));
  }

  @Test
  void idsAreComparedInLowerCaseWithoutSpace() {
    assertThat(KnowledgeIds.canonical(" " + ABC.toUpperCase(java.util.Locale.ROOT) + "\n"))
        .isEqualTo(ABC);
  }
}
