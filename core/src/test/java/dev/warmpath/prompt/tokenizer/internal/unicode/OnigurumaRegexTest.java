package dev.warmpath.prompt.tokenizer.internal.unicode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OnigurumaRegexTest {
  @Test
  void letterIsUnicode16OnEveryJdk() {
    // Garay and Todhri came with Unicode 16.
    assertThat(matches("\\p{L}+", "a\uD803\uDD50\uD801\uDDC0b1"))
        .containsExactly("a\uD803\uDD50\uD801\uDDC0b");
    assertThat(matches("\\p{Lu}", "\uD803\uDD50")).hasSize(1);
    assertThat(matches("[^\\p{L}]", "\uD803\uDD50")).isEmpty();
  }

  @Test
  void plusAfterAnIntervalRepeatsIt() {
    // Possessive in java.util.regex, where "aaa" would not match.
    assertThat(matches("(?:a{1,2}+)a", "aaa")).containsExactly("aaa");
  }

  @Test
  void aFixedIntervalWithQuestionMarkIsOptional() {
    assertThat(matches("xa{2}?y", "xy xaay xay")).containsExactly("xy", "xaay");
  }

  @Test
  void longSIsAnSWhereCaseIsIgnored() {
    assertThat(matches("(?i:'s)", "'s 'S 'ſ 'x")).containsExactly("'s", "'S", "'ſ");
  }

  @Test
  void anEmptyMatchDirectlyAfterAMatchDoesNotCount() {
    assertThat(matches("a*", "baac")).containsExactly("", "aa", "");
  }

  @Test
  void dotStopsAtLineFeedOnly() {
    assertThat(matches(".+", "a\r\u2028b\nc")).containsExactly("a\r\u2028b", "c");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(?i:straße)",
        "(?i:ss)",
        "(?i:\\p{L})",
        "(a)\\1",
        "(?<name>a)",
        "(?m:a)",
        "\\p{Greek}",
        "\\pL",
        "\\R",
        "\\X",
        "\\K",
        "[[:alpha:]]",
        "a{x}",
        "*a",
        "(a",
        "a)",
        "[a",
        "\\",
        "\\xE9",
        "[\\w-z]",
        "[z-a]",
        "\\G",
        "(?i)fi",
        "\\p{L",
        "[a-\\d]"
      })
  void refusesWhatItCannotPreserve(String regex) {
    assertThatThrownBy(() -> OnigurumaRegex.compile(regex))
        .isInstanceOf(OnigurumaRegex.UnsupportedRegexException.class)
        .hasMessageContaining(regex);
  }

  private static List<String> matches(String regex, String text) {
    List<String> matches = new ArrayList<>();
    OnigurumaRegex.compile(regex)
        .forEachMatch(text, (start, end) -> matches.add(text.substring(start, end)));
    return matches;
  }
}
