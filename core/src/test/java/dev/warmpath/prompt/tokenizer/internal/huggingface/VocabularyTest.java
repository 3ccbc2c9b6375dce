package dev.warmpath.prompt.tokenizer.internal.huggingface;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class VocabularyTest {
  /** More than the length that a table's value has room for. */
  private static final int LONGEST = 2_100;

  @Test
  void findsTokensOfEveryLengthWhateverIsKnownOfThem() {
    Vocabulary.Builder builder = new Vocabulary.Builder();
    char[] chars = "abcdefg".repeat(LONGEST / 7 + 1).toCharArray();
    for (int length = 1; length <= LONGEST; length++) {
      builder.add(chars, 0, length, Vocabulary.MAX_SIZE - length);
    }
    Vocabulary vocabulary = builder.build(false);
    byte[] text = (new String(chars) + "x").getBytes(StandardCharsets.UTF_8);
    for (int round = 0; round < 3; round++) {
      for (int length = 1; length <= LONGEST; length++) {
        long value = vocabulary.value(text, 0, length);
        assertThat(Vocabulary.id(value)).isEqualTo(Vocabulary.MAX_SIZE - length);
        assertThat(Vocabulary.state(value)).isEqualTo(round);
        vocabulary.setState(text, 0, length, (round + 1) % 3);
        assertThat(vocabulary.find(text, 1, length + 1)).isEqualTo(-1);
      }
    }
    text[20] = 'x';
    assertThat(vocabulary.find(text, 0, 20)).isEqualTo(Vocabulary.MAX_SIZE - 20);
    for (int length = 21; length <= LONGEST; length++) {
      assertThat(vocabulary.find(text, 0, length)).isEqualTo(-1);
    }
  }
}
