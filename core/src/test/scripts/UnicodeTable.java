import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.BitSet;
import java.util.Locale;
import java.util.Scanner;

/**
 * Writes the table of Unicode 16.0 that the tokenizer reads ({@code unicode-16.txt}).
 *
 * <p>Run on a JDK whose character data is Unicode 16.0 (JDK 24 or 25), with the code points that
 * Unicode 9.0 knows as hexadecimal numbers on standard input:
 *
 * <pre>
 * perl -e 'for (0..0x10FFFF) { printf "%X\n", $_ if chr($_) =~ /\p{Present_In: 9.0}/ }' \
 *   | java UnicodeTable.java &gt; unicode-16.txt
 * </pre>
 */
public final class UnicodeTable {
  private static final Character.UnicodeScript[] SCRIPTS = {
    Character.UnicodeScript.HAN,
    Character.UnicodeScript.HANGUL,
    Character.UnicodeScript.HIRAGANA,
    Character.UnicodeScript.KATAKANA
  };

  private static final String[] CATEGORIES = new String[31];

  static {
    CATEGORIES[Character.UNASSIGNED] = "Cn";
    CATEGORIES[Character.UPPERCASE_LETTER] = "Lu";
    CATEGORIES[Character.LOWERCASE_LETTER] = "Ll";
    CATEGORIES[Character.TITLECASE_LETTER] = "Lt";
    CATEGORIES[Character.MODIFIER_LETTER] = "Lm";
    CATEGORIES[Character.OTHER_LETTER] = "Lo";
    CATEGORIES[Character.NON_SPACING_MARK] = "Mn";
    CATEGORIES[Character.ENCLOSING_MARK] = "Me";
    CATEGORIES[Character.COMBINING_SPACING_MARK] = "Mc";
    CATEGORIES[Character.DECIMAL_DIGIT_NUMBER] = "Nd";
    CATEGORIES[Character.LETTER_NUMBER] = "Nl";
    CATEGORIES[Character.OTHER_NUMBER] = "No";
    CATEGORIES[Character.SPACE_SEPARATOR] = "Zs";
    CATEGORIES[Character.LINE_SEPARATOR] = "Zl";
    CATEGORIES[Character.PARAGRAPH_SEPARATOR] = "Zp";
    CATEGORIES[Character.CONTROL] = "Cc";
    CATEGORIES[Character.FORMAT] = "Cf";
    CATEGORIES[Character.PRIVATE_USE] = "Co";
    CATEGORIES[Character.SURROGATE] = "Cs";
    CATEGORIES[Character.DASH_PUNCTUATION] = "Pd";
    CATEGORIES[Character.START_PUNCTUATION] = "Ps";
    CATEGORIES[Character.END_PUNCTUATION] = "Pe";
    CATEGORIES[Character.CONNECTOR_PUNCTUATION] = "Pc";
    CATEGORIES[Character.OTHER_PUNCTUATION] = "Po";
    CATEGORIES[Character.MATH_SYMBOL] = "Sm";
    CATEGORIES[Character.CURRENCY_SYMBOL] = "Sc";
    CATEGORIES[Character.MODIFIER_SYMBOL] = "Sk";
    CATEGORIES[Character.OTHER_SYMBOL] = "So";
    CATEGORIES[Character.INITIAL_QUOTE_PUNCTUATION] = "Pi";
    CATEGORIES[Character.FINAL_QUOTE_PUNCTUATION] = "Pf";
  }

  public static void main(String[] args) {
    BitSet unicode9 = new BitSet();
    try (Scanner in = new Scanner(System.in, StandardCharsets.US_ASCII)) {
      while (in.hasNext()) {
        unicode9.set(in.nextInt(16));
      }
    }
    BitSet composingSecond = new BitSet();
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      String decomposed = nfd(c);
      if (decomposed.codePointCount(0, decomposed.length()) > 1 && nfc(c).equals(string(c))) {
        composingSecond.set(decomposed.codePointBefore(decomposed.length()));
      }
    }
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
    out.println("# Unicode 16.0 character data, condensed by UnicodeTable.java.");
    out.println("# Unicode Character Database, Copyright Unicode, Inc., Unicode License v3.");
    out.println("# first last category flags:");
    out.println("#   w  alphabetic, though neither letter, mark nor number");
    out.println("#   n  can change under NFC or be moved by it (Unicode 9.0)");
    out.println("#   l  assigned later than Unicode 9.0");
    out.println("# and, by script: first last name");
    int start = 0;
    String value = describe(0, unicode9, composingSecond);
    for (int c = 1; c <= Character.MAX_CODE_POINT + 1; c++) {
      String next = c > Character.MAX_CODE_POINT ? null : describe(c, unicode9, composingSecond);
      if (!value.equals(next)) {
        if (!value.equals("Cn")) {
          out.printf("%X %X %s%n", start, c - 1, value);
        }
        start = c;
        value = next;
      }
    }
    for (Character.UnicodeScript script : SCRIPTS) {
      int from = -1;
      for (int c = 0; c <= Character.MAX_CODE_POINT + 1; c++) {
        boolean member = c <= Character.MAX_CODE_POINT && Character.UnicodeScript.of(c) == script;
        if (member && from < 0) {
          from = c;
        } else if (!member && from >= 0) {
          out.printf("%X %X %s%n", from, c - 1, titleCase(script.name()));
          from = -1;
        }
      }
    }
    out.flush();
  }

  private static String describe(int c, BitSet unicode9, BitSet composingSecond) {
    int type = Character.getType(c);
    StringBuilder flags = new StringBuilder();
    boolean mark =
        type == Character.NON_SPACING_MARK
            || type == Character.ENCLOSING_MARK
            || type == Character.COMBINING_SPACING_MARK;
    if (Character.isAlphabetic(c)
        && !Character.isLetter(c)
        && !mark
        && type != Character.LETTER_NUMBER) {
      flags.append('w');
    }
    if (!unicode9.get(c)) {
      if (type != Character.UNASSIGNED) {
        flags.append('l');
      }
    } else if (type != Character.SURROGATE
        && (!nfc(c).equals(string(c)) || composingSecond.get(c) || reorders(c))) {
      flags.append('n');
    }
    return flags.isEmpty() ? CATEGORIES[type] : CATEGORIES[type] + " " + flags;
  }

  /**
   * Whether the canonical combining class is not zero: such a mark moves before U+0345 (class 240).
   */
  private static boolean reorders(int c) {
    return c == 0x345
        || !Normalizer.normalize("\u0345" + string(c), Normalizer.Form.NFD).startsWith("\u0345");
  }

  private static String titleCase(String name) {
    return name.charAt(0) + name.substring(1).toLowerCase(Locale.ROOT);
  }

  private static String nfd(int c) {
    return Normalizer.normalize(string(c), Normalizer.Form.NFD);
  }

  private static String nfc(int c) {
    return Normalizer.normalize(string(c), Normalizer.Form.NFC);
  }

  private static String string(int c) {
    return Character.toString(c);
  }
}
