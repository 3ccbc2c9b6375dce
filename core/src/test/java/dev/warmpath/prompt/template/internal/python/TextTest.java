package dev.warmpath.prompt.template.internal.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.util.zip.CRC32;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class TextTest {
  private final Rendering rendering = new Rendering(Clock.systemUTC(), 1 << 30, 1 << 20, 10);

  @Property
  void longPartsAreFoundWhereTheyStand(
      @ForAll @CharRange(from = 'a', to = 'b') @StringLength(max = 400) String text,
      @ForAll @CharRange(from = 'a', to = 'b') @StringLength(min = 33, max = 60) String part,
      @ForAll @CharRange(from = 'a', to = 'b') @StringLength(max = 80) String rest) {
    String whole = text + part + rest;

    assertThat(Text.indexOf(rendering, whole, part, 0)).isEqualTo(whole.indexOf(part));
    assertThat(Text.lastIndexOf(rendering, whole, part, whole.length()))
        .isEqualTo(whole.lastIndexOf(part));
    assertThat(Text.indexOf(rendering, text, part, 0)).isEqualTo(text.indexOf(part));
    assertThat(Text.lastIndexOf(rendering, text, part, text.length()))
        .isEqualTo(text.lastIndexOf(part));
  }

  @Property
  void stringsCompareByCodePoints(@ForAll String a, @ForAll String b) {
    int[] x = a.codePoints().toArray();
    int[] y = b.codePoints().toArray();

    assertThat(Integer.signum(Text.compare(a, b)))
        .isEqualTo(Integer.signum(java.util.Arrays.compare(x, y)));
  }

  @Test
  void printableIsWhatUnicode14SaysOnEveryJdk() {
    CRC32 crc = new CRC32();
    int count = 0;
    for (int cp = 0; cp <= Character.MAX_CODE_POINT; cp++) {
      boolean printable = Text.isPrintable(cp);
      crc.update(printable ? 1 : 0);
      count += printable ? 1 : 0;
    }

    // of bytes(chr(c).isprintable() for c in range(0x110000)) in Python 3.11
    assertThat(count).isEqualTo(144_516);
    assertThat(crc.getValue()).isEqualTo(559_749_699L);
  }
}
