package dev.warmpath.grpc.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class StopCutterTest {
  @Test
  void holdsBackWhatMayBeginAStop() {
    StopCutter cutter = new StopCutter(List.of("STOP"), false);
    assertThat(cutter.append("go ST")).isEqualTo("go ");
    assertThat(cutter.append("AY ")).isEqualTo("STAY ");
    assertThat(cutter.append("STO")).isEmpty();
    assertThat(cutter.append("P and more")).isEmpty();
    assertThat(cutter.matched()).isEqualTo("STOP");
    assertThat(cutter.append("after")).isEmpty();
    assertThat(cutter.finish()).isEmpty();
  }

  @Test
  void keepsTheStopWhereItIsAskedTo() {
    StopCutter cutter = new StopCutter(List.of("\n\n", "."), true);
    assertThat(cutter.append("one. two")).isEqualTo("one.");
    assertThat(cutter.matched()).isEqualTo(".");
  }

  /** However a text is cut into pieces, what comes out is what lies before its first stop. */
  @Property(tries = 500)
  void piecesDoNotMatter(
      @ForAll @StringLength(max = 30) @CharRange(from = 'a', to = 'c') String text,
      @ForAll @Size(min = 1, max = 3)
          List<@StringLength(min = 1, max = 4) @CharRange(from = 'a', to = 'c') String> stops,
      @ForAll @IntRange(min = 1, max = 5) int piece,
      @ForAll boolean include) {
    StopCutter cutter = new StopCutter(stops, include);
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length() && cutter.matched() == null; i += piece) {
      out.append(cutter.append(text.substring(i, Math.min(text.length(), i + piece))));
    }
    out.append(cutter.finish());

    String matched = cutter.matched();
    if (matched == null) {
      assertThat(out.toString()).isEqualTo(text);
      assertThat(stops).noneMatch(text::contains);
    } else {
      int end = out.length();
      int at = include ? end - matched.length() : end;
      assertThat(text).startsWith(out);
      assertThat(text.startsWith(matched, at)).isTrue();
      String before = text.substring(0, at);
      assertThat(stops).noneMatch(before::contains);
    }
  }
}
