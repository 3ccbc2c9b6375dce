package dev.warmpath.prompt.tokenizer.internal.unicode;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class Utf8Test {
  @Test
  void readsEveryCodePoint() {
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      if (c < 0xD800 || c > 0xDFFF) {
        byte[] utf8 = Character.toString(c).getBytes(StandardCharsets.UTF_8);
        assertThat(Utf8.codePointAt(utf8, 0)).isEqualTo(c);
        assertThat(Utf8.width(utf8[0])).isEqualTo(utf8.length);
        assertThat(Utf8.previous(utf8, 0, utf8.length)).isZero();
        assertThat(Utf8.firstMalformed(utf8, 0, utf8.length)).isEqualTo(utf8.length);
      }
    }
  }

  /** Rust, the reference, has one U+FFFD for each byte of a surrogate; the JDK has one for all. */
  @Test
  void replacesEachByteOfASurrogate() {
    byte[] bytes = {
      'a', (byte) 0xED, (byte) 0xA0, (byte) 0x80, (byte) 0xED, (byte) 0x9F, (byte) 0xBF
    };
    assertThat(Utf8.decode(bytes, 0, bytes.length)).isEqualTo("a\uFFFD\uFFFD\uFFFD\uD7FF");
    assertThat(Utf8.incompleteTail(bytes, 0, 3)).isZero();
    assertThat(Utf8.incompleteTail(bytes, 0, 6)).isEqualTo(2);
  }

  /** Surrogates apart, the JDK's decoder replaces maximal subparts too, as Unicode recommends. */
  @Property(tries = 20_000)
  void repairsAsTheJdkDoes(@ForAll long seed) {
    byte[] bytes = bytes(seed);
    String expected = new String(bytes, StandardCharsets.UTF_8);
    assertThat(Utf8.decode(bytes, 0, bytes.length)).isEqualTo(expected);
    assertThat(Utf8.repair(bytes, 0, bytes.length))
        .isEqualTo(expected.getBytes(StandardCharsets.UTF_8));
  }

  @Property(tries = 20_000)
  void holdsBackOnlyWhatMoreBytesCouldComplete(@ForAll long seed) {
    byte[] bytes = bytes(seed);
    int held = Utf8.incompleteTail(bytes, 0, bytes.length);
    String whole = new String(bytes, StandardCharsets.UTF_8);
    byte[] sure = Arrays.copyOf(bytes, bytes.length - held);
    String early = new String(sure, StandardCharsets.UTF_8);
    assertThat(whole).startsWith(early);
    byte[] continued = Arrays.copyOf(bytes, bytes.length + 3);
    for (int fill : new int[] {0x80, 0xBF, 'a', 0xE4}) {
      Arrays.fill(continued, bytes.length, continued.length, (byte) fill);
      assertThat(new String(continued, StandardCharsets.UTF_8)).startsWith(early);
    }
    if (held > 0) {
      assertThat(whole).isEqualTo(early + "\uFFFD");
    }
  }

  @Property(tries = 5_000)
  void writesLoneSurrogatesAsReplacement(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder();
    StringBuilder expected = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      switch (random.nextInt(4)) {
        case 0 -> text.append('?');
        case 1 -> text.append((char) random.nextInt(0xD800, 0xDC00));
        case 2 -> text.append((char) random.nextInt(0xDC00, 0xE000));
        default -> text.appendCodePoint(random.nextInt(0x10000, 0x20000));
      }
    }
    text.codePoints()
        .forEach(
            c ->
                expected.appendCodePoint(Character.getType(c) == Character.SURROGATE ? 0xFFFD : c));
    assertThat(new String(Utf8.encode(text.toString()), StandardCharsets.UTF_8))
        .isEqualTo(expected.toString());
  }

  @Property(tries = 5_000)
  void skipsAsciiLetters(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] bytes = new byte[random.nextInt(40)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] =
          (byte) (random.nextInt(9) == 0 ? random.nextInt(256) : random.nextBoolean() ? 'Z' : 'a');
    }
    int from = random.nextInt(bytes.length + 1);
    int expected = from;
    while (expected < bytes.length
        && bytes[expected] >= 0
        && Character.isLetter((char) bytes[expected])) {
      expected++;
    }
    assertThat(Utf8.skipAsciiLetters(bytes, from, bytes.length)).isEqualTo(expected);
  }

  /** Bytes of which many are almost UTF-8. */
  private static byte[] bytes(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] leads = {
      (byte) 0xC0,
      (byte) 0xC2,
      (byte) 0xDF,
      (byte) 0xE0,
      (byte) 0xE4,
      (byte) 0xEF,
      (byte) 0xF0,
      (byte) 0xF3,
      (byte) 0xF4,
      (byte) 0xF5,
      (byte) 0xFF,
      'a',
      (byte) 0x80
    };
    byte[] bytes = new byte[random.nextInt(14)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] =
          random.nextInt(3) == 0
              ? leads[random.nextInt(leads.length)]
              : (byte) random.nextInt(0x80, 0xC0);
    }
    return bytes;
  }
}
