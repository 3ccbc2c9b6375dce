package dev.warmpath.prompt.tokenizer.internal.unicode;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class NormalizationTest {
  @Test
  void everyCharacterOfUnicode9IsNormalizedAsByTheJdk() {
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      if (c < 0xD800 || c > 0xDFFF) {
        String text = "a" + Character.toString(c) + "\u0301";
        boolean late = CodePoints.isLaterThanUnicode9(c);
        String expected = late ? text : Normalizer.normalize(text, Normalizer.Form.NFC);
        assertThat(nfc(text)).as("U+%04X", c).isEqualTo(expected);
      }
    }
  }

  @Property(tries = 5_000)
  void nfcOfAnyTextIsTheJdks(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(20); i > 0; i--) {
      int c =
          switch (random.nextInt(6)) {
            case 0 -> random.nextInt(0x300, 0x370);
            case 1 -> random.nextInt(0x1100, 0x1200);
            case 2 -> random.nextInt(0xAC00, 0xAD00);
            case 3 -> random.nextInt(0x900, 0xE00);
            case 4 -> random.nextInt('A', 'z');
            default -> random.nextInt(0x20, 0xD800);
          };
      if (!CodePoints.isLaterThanUnicode9(c)) {
        text.appendCodePoint(c);
      }
    }
    String given = text.toString();
    String expected = Normalizer.normalize(given, Normalizer.Form.NFC);
    assertThat(nfc(given)).isEqualTo(expected);
    byte[] normalized = expected.getBytes(StandardCharsets.UTF_8);
    assertThat(Normalization.nfc(normalized, 0, normalized.length)).isEqualTo(normalized);
  }

  @Test
  void laterCharactersAreInert() {
    // Composed since Unicode 16, unknown to Unicode 9.
    String todhri = "\uD801\uDDD2\u0307";
    assertThat(nfc(todhri)).isEqualTo(todhri);
    assertThat(Normalization.normalize("e\u0301\uD801\uDDC9", Normalizer.Form.NFD))
        .isEqualTo("e\u0301\uD801\uDDC9");
  }

  @Test
  void lowerCaseKnowsUnicode16AndNoContext() {
    assertThat(Normalization.toLowerCase("ΑΣ İ\u2C2F\uD801\uDD70\uD803\uDD50\uA7DC"))
        .isEqualTo("ασ i\u0307\u2C5F\uD801\uDD97\uD803\uDD70\u019B");
  }

  private static String nfc(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    boolean already = Normalization.isNfc(utf8, 0, utf8.length);
    String result = new String(Normalization.nfc(utf8, 0, utf8.length), StandardCharsets.UTF_8);
    if (already) {
      assertThat(result).isEqualTo(text);
    }
    return result;
  }
}
