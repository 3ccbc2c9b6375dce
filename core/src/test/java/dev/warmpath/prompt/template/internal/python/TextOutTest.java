package dev.warmpath.prompt.template.internal.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class TextOutTest {
  /** Short and long texts, and captures within captures, against a plain builder. */
  @Property(tries = 500)
  void isWhatABuilderIs(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    TextOut out = new TextOut();
    StringBuilder plain = new StringBuilder();
    Deque<Integer> starts = new ArrayDeque<>();
    for (int i = 0; i < 60; i++) {
      switch (random.nextInt(4)) {
        case 0 -> starts.push(out.length());
        case 1 -> {
          if (!starts.isEmpty()) {
            int start = starts.pop();
            assertThat(out.cut(start)).isEqualTo(plain.substring(start));
            plain.setLength(start);
          }
        }
        default -> {
          String text = "aé東😀x".substring(0, 1 + random.nextInt(3)).repeat(random.nextInt(200));
          out.append(text);
          plain.append(text);
        }
      }
      assertThat(out.length()).isEqualTo(plain.length());
    }
    assertThat(out.toString()).isEqualTo(plain.toString());
    assertThat(out.utf8()).isEqualTo(plain.toString().getBytes(StandardCharsets.UTF_8));
  }
}
