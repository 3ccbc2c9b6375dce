package dev.warmpath.prompt.template.internal.python;

import java.util.Locale;

/** Strings by code points, with Python's classes of characters. */
public final class Text {
  private Text() {}

  /** Code points in a string. */
  public static int length(String s) {
    return s.codePointCount(0, s.length());
  }

  /** Whether indices of code points and of UTF-16 units are the same. */
  public static boolean isSimple(String s) {
    return length(s) == s.length();
  }

  /** The UTF-16 offset of a code point index within the string. */
  public static int offset(String s, int index) {
    return isSimple(s) ? index : s.offsetByCodePoints(0, index);
  }

  /** The code point at an index within the string, as a string. */
  public static String at(String s, int index) {
    int from = offset(s, index);
    return Character.isSurrogate(s.charAt(from))
        ? s.substring(from, s.offsetByCodePoints(from, 1))
        : String.valueOf(s.charAt(from));
  }

  /** The code points from an index up to another. */
  public static String substring(String s, int from, int to) {
    if (from >= to) {
      return "";
    }
    if (isSimple(s)) {
      return s.substring(from, to);
    }
    int start = s.offsetByCodePoints(0, from);
    return s.substring(start, s.offsetByCodePoints(start, to - from));
  }

  /** Compares by code points. */
  public static int compare(String a, String b) {
    int n = Math.min(a.length(), b.length());
    for (int i = 0; i < n; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean surrogateX = Character.isSurrogate(x);
        boolean surrogateY = Character.isSurrogate(y);
        return surrogateX == surrogateY ? Character.compare(x, y) : surrogateX ? 1 : -1;
      }
    }
    return Integer.compare(a.length(), b.length());
  }

  /** Python's {@code str.isspace} for a character. */
  public static boolean isSpace(int c) {
    if (c <= ' ') {
      return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    }
    return c >= 0x85
        && (c == 0x85
            || c == 0xa0
            || c == 0x1680
            || (c >= 0x2000 && c <= 0x200a)
            || c == 0x2028
            || c == 0x2029
            || c == 0x202f
            || c == 0x205f
            || c == 0x3000);
  }

  /** Without white space at both ends. */
  public static String strip(String s) {
    return stripRight(stripLeft(s));
  }

  /** Without white space at the start. */
  public static String stripLeft(String s) {
    int from = 0;
    while (from < s.length() && isSpace(s.charAt(from))) {
      from++;
    }
    return s.substring(from);
  }

  /** Without white space at the end. */
  public static String stripRight(String s) {
    int to = s.length();
    while (to > 0 && isSpace(s.charAt(to - 1))) {
      to--;
    }
    return s.substring(0, to);
  }

  /** Whether Python's {@code splitlines} ends a line at a character. */
  public static boolean isLineBreak(char c) {
    return (c >= '\n' && c <= '\r')
        || (c >= 0x1c && c <= 0x1e)
        || c == 0x85
        || c == 0x2028
        || c == 0x2029;
  }

  /** Python's {@code str.lower}. */
  public static String lower(String s) {
    return s.toLowerCase(Locale.ROOT);
  }

  /** Python's {@code str.upper}. */
  public static String upper(String s) {
    return s.toUpperCase(Locale.ROOT);
  }

  /** The title case of one code point, which may be several. */
  public static String titleCase(int cp) {
    if (cp < 0x80) {
      return String.valueOf((char) (cp >= 'a' && cp <= 'z' ? cp - 32 : cp));
    }
    int single = Character.toTitleCase(cp);
    if (single != cp) {
      return Character.toString(single);
    }
    String s = Character.toString(cp);
    String upper = upper(s);
    int first = upper.codePointAt(0);
    int rest = Character.charCount(first);
    if (rest == upper.length()) {
      return upper;
    }
    if (cp == 0x149) { // the only one whose expansion begins with a character that has no case
      return upper;
    }
    String tail = upper.substring(rest);
    // the iota written beside a Greek capital is a capital in upper case and a mark in title case
    return Character.toString(first)
        + (cp >= 0x1f80 && cp <= 0x1fff ? tail.replace('\u0399', '\u0345') : lower(tail));
  }

  /** Python's {@code str.capitalize}. */
  public static String capitalize(String s) {
    if (s.isEmpty()) {
      return s;
    }
    int first = s.codePointAt(0);
    // lower case depends on context: a final sigma sees what stands before it
    String lower = lower(s);
    String lowerFirst = lower(Character.toString(first));
    return titleCase(first)
        + (lower.startsWith(lowerFirst)
            ? lower.substring(lowerFirst.length())
            : lower(s.substring(Character.charCount(first))));
  }

  /** Python's {@code str.title}: capitals where a letter follows none. */
  public static String title(String s) {
    StringBuilder sb = new StringBuilder(s.length());
    String lower = lower(s);
    boolean inWord = false;
    boolean aligned = lower.length() == s.length();
    for (int i = 0; i < s.length(); ) {
      int cp = s.codePointAt(i);
      int next = i + Character.charCount(cp);
      if (inWord) {
        sb.append(aligned ? lower.substring(i, next) : lower(Character.toString(cp)));
      } else {
        sb.append(titleCase(cp));
      }
      inWord = isCased(cp);
      i = next;
    }
    return sb.toString();
  }

  /** Whether a code point is upper, lower or title case. */
  public static boolean isCased(int cp) {
    return Character.isUpperCase(cp) || Character.isLowerCase(cp) || Character.isTitleCase(cp);
  }

  /** Python's {@code str.swapcase}. */
  public static String swapCase(String s) {
    StringBuilder sb = new StringBuilder(s.length());
    String lower = lower(s);
    boolean aligned = lower.length() == s.length();
    for (int i = 0; i < s.length(); ) {
      int cp = s.codePointAt(i);
      int next = i + Character.charCount(cp);
      String one = s.substring(i, next);
      if (Character.isUpperCase(cp)) {
        sb.append(aligned ? lower.substring(i, next) : lower(one));
      } else if (Character.isLowerCase(cp)) {
        sb.append(upper(one));
      } else {
        sb.append(one);
      }
      i = next;
    }
    return sb.toString();
  }

  /** Python's {@code str.isprintable} for a code point. */
  public static boolean isPrintable(int cp) {
    return Printable.test(cp);
  }

  /** Python's {@code str.isalpha} for a code point. */
  public static boolean isAlpha(int cp) {
    return Character.isLetter(cp);
  }

  /** Python's {@code str.isdecimal} for a code point. */
  public static boolean isDecimal(int cp) {
    return Character.getType(cp) == Character.DECIMAL_DIGIT_NUMBER;
  }

  /** Python's {@code str.isdigit} for a code point: decimals, superscripts and their like. */
  public static boolean isDigit(int cp) {
    if (isDecimal(cp)) {
      return true;
    }
    return cp == 0xb2
        || cp == 0xb3
        || cp == 0xb9
        || (cp >= 0x1369 && cp <= 0x1371)
        || cp == 0x19da
        || cp == 0x2070
        || (cp >= 0x2074 && cp <= 0x2079)
        || (cp >= 0x2080 && cp <= 0x2089)
        || (cp >= 0x2460 && cp <= 0x2468)
        || (cp >= 0x2474 && cp <= 0x247c)
        || (cp >= 0x2488 && cp <= 0x2490)
        || cp == 0x24ea
        || (cp >= 0x24f5 && cp <= 0x24fd)
        || cp == 0x24ff
        || (cp >= 0x2776 && cp <= 0x277e)
        || (cp >= 0x2780 && cp <= 0x2788)
        || (cp >= 0x278a && cp <= 0x2792)
        || (cp >= 0x10a40 && cp <= 0x10a43)
        || (cp >= 0x10e60 && cp <= 0x10e68)
        || (cp >= 0x11052 && cp <= 0x1105a)
        || (cp >= 0x1f100 && cp <= 0x1f10a);
  }

  /**
   * Python's {@code str.isnumeric} for a code point: digits, fractions, numerals, and Han numbers.
   */
  public static boolean isNumeric(int cp) {
    int type = Character.getType(cp);
    return type == Character.DECIMAL_DIGIT_NUMBER
        || type == Character.LETTER_NUMBER
        || type == Character.OTHER_NUMBER
        || HAN_NUMBERS.indexOf(cp) >= 0;
  }

  private static final String HAN_NUMBERS =
      "\u3405\u3483\u382a\u3b4d\u4e00\u4e03\u4e07\u4e09\u4e5d\u4e8c\u4e94\u4e96\u4ebf\u4ec0\u4edf\u4ee8\u4f0d\u4f70"
          + "\u5104\u5146\u5169\u516b\u516d\u5341\u5343\u5344\u5345\u534c\u53c1\u53c2\u53c3\u53c4\u56db\u58f1\u58f9"
          + "\u5e7a\u5efe\u5eff\u5f0c\u5f0d\u5f0e\u5f10\u62fe\u634c\u67d2\u6f06\u7396\u767e\u8086\u842c\u8cae\u8cb3"
          + "\u8d30\u9621\u9646\u964c\u9678\u96f6";

  /** Whether Python's regular expressions count a code point as part of a word. */
  public static boolean isWord(int cp) {
    return cp == '_' || isAlpha(cp) || isNumeric(cp) || isDigit(cp);
  }

  /** Whether a text is a Python identifier. */
  public static boolean isIdentifier(String s) {
    if (s.isEmpty()) {
      return false;
    }
    int first = s.codePointAt(0);
    if (first != '_' && !Character.isUnicodeIdentifierStart(first)) {
      return false;
    }
    return s.codePoints()
        .skip(1)
        .allMatch(
            cp -> Character.isUnicodeIdentifierPart(cp) && !Character.isIdentifierIgnorable(cp));
  }

  /**
   * The first occurrence at or after an offset, in time linear in both lengths whatever they hold.
   *
   * @return a UTF-16 offset, or -1
   */
  public static int indexOf(Rendering r, String text, String part, int from) {
    int rest = text.length() - from;
    if (part.length() <= 32 || rest <= 64) {
      r.charge(Math.max(rest, 0) / 64);
      return text.indexOf(part, from);
    }
    if (part.length() > rest) {
      return -1;
    }
    r.charge((rest + part.length()) / 16);
    return knuthMorrisPratt(text, part, from);
  }

  private static int knuthMorrisPratt(String text, String part, int from) {
    int m = part.length();
    int[] border = new int[m];
    for (int i = 1, k = 0; i < m; i++) {
      while (k > 0 && part.charAt(i) != part.charAt(k)) {
        k = border[k - 1];
      }
      if (part.charAt(i) == part.charAt(k)) {
        k++;
      }
      border[i] = k;
    }
    for (int i = from, k = 0; i < text.length(); i++) {
      while (k > 0 && text.charAt(i) != part.charAt(k)) {
        k = border[k - 1];
      }
      if (text.charAt(i) == part.charAt(k)) {
        k++;
      }
      if (k == m) {
        return i - m + 1;
      }
    }
    return -1;
  }

  /** The last occurrence that begins at or before an offset, or -1. */
  public static int lastIndexOf(Rendering r, String text, String part, int from) {
    if (part.length() <= 32 || text.length() <= 64) {
      r.charge(Math.max(from, 0) / 64);
      return text.lastIndexOf(part, from);
    }
    int end = Math.min(text.length(), from + part.length());
    String reversedText =
        new StringBuilder(text.substring(0, Math.max(end, 0))).reverse().toString();
    String reversedPart = new StringBuilder(part).reverse().toString();
    int found = indexOf(r, reversedText, reversedPart, 0);
    return found < 0 ? -1 : end - found - part.length();
  }
}
