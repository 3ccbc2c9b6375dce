package dev.warmpath.prompt.tokenizer.internal.unicode;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Character properties of Unicode 16.0, the version of Oniguruma 6.9.10 that Hugging Face
 * tokenizers 0.21 uses. The JDK's own data can't serve: JDK 17 knows Unicode 13, JDK 25 knows 16,
 * and a letter that is unassigned on one of them would move token boundaries.
 *
 * <p>A code point's properties are one byte: the low five bits are a general category, of which two
 * are split off {@code Cc} (control characters that are white space, and the two line breaks CR and
 * LF that the tokenizers' expressions single out). A set of categories is therefore an {@code int},
 * and a membership test is {@code (set >>> properties & 1) != 0}, since a shift takes its low five
 * bits only.
 */
public final class CodePoints {
  static final int CN = 0;
  static final int LU = 1;
  static final int LL = 2;
  static final int LT = 3;
  static final int LM = 4;

  /** {@code \p{Lo}}, as a bit number. */
  public static final int LO = 5;

  static final int MN = 6;
  static final int ME = 7;
  static final int MC = 8;
  static final int ND = 9;
  static final int NL = 10;
  static final int NO = 11;
  static final int CC = 15;

  /** Control characters that are white space, CR and LF apart. */
  static final int CONTROL_SPACE = 30;

  /** CR and LF. */
  static final int LINE_BREAK = 31;

  private static final List<String> NAMES =
      List.of(
          "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp",
          "Cc", "Cf", "Co", "Cs", "Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf");

  private static final byte[] JAVA_TYPES = {
    Character.UNASSIGNED,
    Character.UPPERCASE_LETTER,
    Character.LOWERCASE_LETTER,
    Character.TITLECASE_LETTER,
    Character.MODIFIER_LETTER,
    Character.OTHER_LETTER,
    Character.NON_SPACING_MARK,
    Character.ENCLOSING_MARK,
    Character.COMBINING_SPACING_MARK,
    Character.DECIMAL_DIGIT_NUMBER,
    Character.LETTER_NUMBER,
    Character.OTHER_NUMBER,
    Character.SPACE_SEPARATOR,
    Character.LINE_SEPARATOR,
    Character.PARAGRAPH_SEPARATOR,
    Character.CONTROL,
    Character.FORMAT,
    Character.PRIVATE_USE,
    Character.SURROGATE,
    Character.DASH_PUNCTUATION,
    Character.START_PUNCTUATION,
    Character.END_PUNCTUATION,
    Character.CONNECTOR_PUNCTUATION,
    Character.OTHER_PUNCTUATION,
    Character.MATH_SYMBOL,
    Character.CURRENCY_SYMBOL,
    Character.MODIFIER_SYMBOL,
    Character.OTHER_SYMBOL,
    Character.INITIAL_QUOTE_PUNCTUATION,
    Character.FINAL_QUOTE_PUNCTUATION
  };

  /** {@code \p{Lu}} and {@code \p{Lt}}. */
  public static final int UPPER_OR_TITLE = 1 << LU | 1 << LT;

  /** {@code \p{Ll}}. */
  public static final int LOWER = 1 << LL;

  /** {@code \p{Lm}} and {@code \p{Lo}}: letters that have no case. */
  public static final int UNCASED = 1 << LM | 1 << LO;

  /** {@code \p{L}}. */
  public static final int LETTER = UPPER_OR_TITLE | LOWER | UNCASED;

  /** {@code \p{M}}. */
  public static final int MARK = 1 << MN | 1 << ME | 1 << MC;

  /** {@code \p{N}}. */
  public static final int NUMBER = 1 << ND | 1 << NL | 1 << NO;

  /** {@code [\r\n]}. */
  public static final int LINE_BREAKS = 1 << LINE_BREAK;

  /** {@code \s}. */
  public static final int SPACE = 1 << 12 | 1 << 13 | 1 << 14 | 1 << CONTROL_SPACE | LINE_BREAKS;

  /** {@code \p{P}}. */
  public static final int PUNCTUATION = 0b11111 << 19 | 1 << 28 | 1 << 29;

  /** {@code \p{S}}. */
  public static final int SYMBOL = 0b1111 << 24;

  /** The categories that {@code \w} holds entirely. */
  static final int WORD_CATEGORIES = LETTER | MARK | 1 << ND | 1 << NL | 1 << 22;

  private static final int CONTROL = 1 << CC | 1 << CONTROL_SPACE | LINE_BREAKS;

  private static final byte WORD = 1 << 5;
  private static final byte UNSTABLE = 1 << 6;
  private static final byte LATE = (byte) (1 << 7);

  private static final int BLOCK_BITS = 7;
  private static final int BLOCK = 1 << BLOCK_BITS;

  private static final char[] INDEX = new char[(Character.MAX_CODE_POINT + 1) >>> BLOCK_BITS];
  private static final byte[] DATA;
  private static final Map<String, int[]> SCRIPTS = new HashMap<>();

  static {
    DATA = fold(read());
  }

  private CodePoints() {}

  /** The property byte of a code point. */
  public static int properties(int codePoint) {
    return DATA[(INDEX[codePoint >>> BLOCK_BITS] << BLOCK_BITS) + (codePoint & (BLOCK - 1))];
  }

  /** The property byte of an ASCII character. */
  public static int asciiProperties(int ascii) {
    return DATA[ascii];
  }

  /** Whether a code point is of one of the categories in {@code set}. */
  public static boolean in(int set, int codePoint) {
    return (set >>> properties(codePoint) & 1) != 0;
  }

  /** {@code \w} of Rust's regex crate: alphabetic, mark, decimal number, connector or joiner. */
  public static boolean isWord(int codePoint) {
    return (properties(codePoint) & WORD) != 0;
  }

  /** {@code \s}. */
  public static boolean isSpace(int codePoint) {
    return in(SPACE, codePoint);
  }

  /**
   * Punctuation as Hugging Face tokenizers' {@code Punctuation} sees it: {@code \p{P}} of Unicode
   * 8.0 and the symbols of ASCII.
   */
  public static boolean isPunctuation(int codePoint) {
    if (codePoint < 0x80) {
      return in(PUNCTUATION | SYMBOL, codePoint);
    }
    if (codePoint == 0x166D || codePoint == 0x111C9) {
      return true;
    }
    return in(PUNCTUATION, codePoint)
        && !isLaterThanUnicode9(codePoint)
        && !isPunctuationSinceUnicode9(codePoint);
  }

  private static boolean isPunctuationSinceUnicode9(int codePoint) {
    return (codePoint >= 0x2E43 && codePoint <= 0x2E44)
        || (codePoint >= 0x1144B && codePoint <= 0x1145D)
        || (codePoint >= 0x11660 && codePoint <= 0x1166C)
        || (codePoint >= 0x11C41 && codePoint <= 0x11C71)
        || (codePoint >= 0x1E95E && codePoint <= 0x1E95F);
  }

  /**
   * Whether NFC (of Unicode 9.0) can change this code point, compose it with the one before it or
   * reorder it. A string without such code points is in NFC, and any string may be cut before a
   * code point that isn't one.
   */
  static boolean isUnstableUnderNfc(int codePoint) {
    return (properties(codePoint) & UNSTABLE) != 0;
  }

  /** Whether Unicode 9.0 did not know the code point yet. */
  static boolean isLaterThanUnicode9(int codePoint) {
    int properties = properties(codePoint);
    return (properties & LATE) != 0 || (properties & 31) == CN;
  }

  /**
   * The categories that {@code \p{name}} stands for, or zero when the name is none of a general
   * category or of a group of them.
   */
  static int categories(String name) {
    return switch (name) {
      case "L", "Letter" -> LETTER;
      case "M", "Mark", "Combining_Mark" -> MARK;
      case "N", "Number" -> NUMBER;
      case "P", "Punctuation" -> PUNCTUATION;
      case "S", "Symbol" -> SYMBOL;
      case "Z", "Separator" -> 1 << 12 | 1 << 13 | 1 << 14;
      case "C", "Other" -> CONTROL | 1 << CN | 1 << 16 | 1 << 17 | 1 << 18;
      case "Cc" -> CONTROL;
      default -> NAMES.contains(name) ? 1 << NAMES.indexOf(name) : 0;
    };
  }

  /** The names of the general categories in a set. */
  static List<String> names(int set) {
    List<String> names = new ArrayList<>();
    for (String name : NAMES) {
      if ((set & categories(name)) != 0) {
        names.add(name);
      }
    }
    return names;
  }

  /** The {@link Character#getType(int)} of a general category. */
  static int javaType(String name) {
    return JAVA_TYPES[NAMES.indexOf(name)];
  }

  /** First and last code points of a script's ranges, or null for a script without data here. */
  static int @Nullable [] script(String name) {
    return SCRIPTS.get(name);
  }

  /** The ranges (first and last code points) of all code points that satisfy the test. */
  static int[] ranges(IntPredicate test) {
    int[] ranges = new int[64];
    int size = 0;
    int start = -1;
    for (int c = 0; c <= Character.MAX_CODE_POINT + 1; c++) {
      boolean member = c <= Character.MAX_CODE_POINT && test.test(c);
      if (member && start < 0) {
        start = c;
      } else if (!member && start >= 0) {
        if (size == ranges.length) {
          ranges = Arrays.copyOf(ranges, size * 2);
        }
        ranges[size++] = start;
        ranges[size++] = c - 1;
        start = -1;
      }
    }
    return Arrays.copyOf(ranges, size);
  }

  /**
   * The lower-case form of one code point without context, as Rust's {@code char::to_lowercase} has
   * it but for U+0130, whose form is two code points.
   */
  static int toLowerCase(int codePoint) {
    int properties = properties(codePoint);
    if ((properties & 31) == CN) {
      return codePoint;
    }
    int lower = Character.toLowerCase(codePoint);
    if (lower != codePoint || (properties & LATE) == 0 || (properties & 31) != LU) {
      return lower;
    }
    // Letters that JDK 17 does not know: Unicode 14, 15 and 16.
    if (codePoint >= 0x10570 && codePoint <= 0x10595) {
      return codePoint + 0x27;
    }
    if (codePoint >= 0x10D50 && codePoint <= 0x10D65) {
      return codePoint + 0x20;
    }
    return switch (codePoint) {
      case 0x1C89, 0xA7C0, 0xA7CC, 0xA7D0, 0xA7D6, 0xA7D8, 0xA7DA -> codePoint + 1;
      case 0x2C2F -> 0x2C5F;
      case 0xA7CB -> 0x264;
      case 0xA7DC -> 0x19B;
      default -> codePoint;
    };
  }

  private static byte[] read() {
    byte[] all = new byte[Character.MAX_CODE_POINT + 1];
    try (InputStream in = CodePoints.class.getResourceAsStream("unicode-16.txt");
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(Objects.requireNonNull(in), StandardCharsets.US_ASCII))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.charAt(0) != '#') {
          readRange(line, all);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (int c : new int[] {0x9, 0xB, 0xC, 0x85}) {
      all[c] = CONTROL_SPACE;
    }
    all['\r'] = LINE_BREAK;
    all['\n'] = LINE_BREAK;
    // ZERO WIDTH NON-JOINER and ZERO WIDTH JOINER are Join_Control, a part of \w.
    all[0x200C] |= WORD;
    all[0x200D] |= WORD;
    return all;
  }

  private static void readRange(String line, byte[] all) {
    int first = line.indexOf(' ');
    int second = line.indexOf(' ', first + 1);
    int from = Integer.parseInt(line, 0, first, 16);
    int to = Integer.parseInt(line, first + 1, second, 16);
    int third = line.indexOf(' ', second + 1);
    String name = third < 0 ? line.substring(second + 1) : line.substring(second + 1, third);
    if (name.length() > 2) {
      SCRIPTS.merge(
          name,
          new int[] {from, to},
          (old, range) -> {
            int[] longer = Arrays.copyOf(old, old.length + 2);
            longer[old.length] = range[0];
            longer[old.length + 1] = range[1];
            return longer;
          });
      return;
    }
    int category = NAMES.indexOf(name);
    byte value = (byte) category;
    if ((WORD_CATEGORIES >>> category & 1) != 0 || line.indexOf('w', second + 3) > 0) {
      value |= WORD;
    }
    if (line.indexOf('n', second + 3) > 0) {
      value |= UNSTABLE;
    }
    if (line.indexOf('l', second + 3) > 0) {
      value |= LATE;
    }
    Arrays.fill(all, from, to + 1, value);
  }

  /** Stores each distinct block once; block 0, the ASCII characters, comes first. */
  private static byte[] fold(byte[] all) {
    byte[] data = new byte[1 << 16];
    int blocks = 0;
    Map<String, Integer> known = new HashMap<>();
    for (int i = 0; i < INDEX.length; i++) {
      String key = new String(all, i * BLOCK, BLOCK, StandardCharsets.ISO_8859_1);
      Integer block = known.get(key);
      if (block == null) {
        block = blocks++;
        known.put(key, block);
        if (blocks * BLOCK > data.length) {
          data = Arrays.copyOf(data, data.length * 2);
        }
        System.arraycopy(all, i * BLOCK, data, block * BLOCK, BLOCK);
      }
      INDEX[i] = (char) (int) block;
    }
    return Arrays.copyOf(data, blocks * BLOCK);
  }
}
