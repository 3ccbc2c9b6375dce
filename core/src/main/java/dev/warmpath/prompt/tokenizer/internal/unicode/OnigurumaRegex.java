package dev.warmpath.prompt.tokenizer.internal.unicode;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * A regular expression in Oniguruma's syntax, the one of Hugging Face tokenizers, carried out by
 * {@code java.util.regex} with the same meaning.
 *
 * <p>What the two engines understand differently is rewritten: Unicode classes follow the data of
 * {@link CodePoints} rather than the JDK's, {@code \s}, {@code \d}, {@code \w} and {@code \h} are
 * spelt out, {@code {n,m}+} is a repeated repetition and not a possessive one, {@code ^} and {@code
 * $} are line anchors. What can't be rewritten with certainty is refused with an {@link
 * UnsupportedRegexException}: a wrong token boundary would go unnoticed.
 */
public final class OnigurumaRegex {
  private static final Map<String, String> CLASSES = new ConcurrentHashMap<>();

  private static final String SPACES =
      "\\t-\\r"
          + " \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";

  /** Pairs of ASCII letters that a single character (such as U+00DF) folds to. */
  private static final String[] FOLDED_PAIRS = {"ss", "ff", "fi", "fl", "st"};

  private final Pattern pattern;

  private OnigurumaRegex(Pattern pattern) {
    this.pattern = pattern;
  }

  /**
   * Compiles an expression.
   *
   * @throws UnsupportedRegexException if its meaning can't be preserved
   */
  public static OnigurumaRegex compile(String regex) {
    String translated = new Translator(regex).translate();
    try {
      return new OnigurumaRegex(
          Pattern.compile(translated, Pattern.MULTILINE | Pattern.UNIX_LINES));
    } catch (PatternSyntaxException e) {
      throw new UnsupportedRegexException(regex, e.getDescription());
    }
  }

  /** Receives the successive matches of a text. */
  @FunctionalInterface
  public interface MatchConsumer {
    /** A match, as offsets into the text. */
    void match(int start, int end);
  }

  /**
   * Finds all matches as Hugging Face tokenizers does: an empty match directly after the last match
   * does not count.
   */
  public void forEachMatch(String text, MatchConsumer consumer) {
    Matcher matcher = pattern.matcher(text);
    int at = 0;
    int lastEnd = -1;
    while (at <= text.length() && matcher.find(at)) {
      int start = matcher.start();
      int end = matcher.end();
      if (start == end && end == lastEnd) {
        at += at < text.length() ? Character.charCount(text.codePointAt(at)) : 1;
        continue;
      }
      consumer.match(start, end);
      at = end;
      lastEnd = end;
    }
  }

  /** Thrown for an expression whose meaning {@code java.util.regex} can't preserve. */
  public static final class UnsupportedRegexException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnsupportedRegexException(String regex, String reason) {
      super("Unsupported regular expression " + regex + ": " + reason);
    }
  }

  /** One pass over an expression. */
  private static final class Translator {
    private final String regex;
    private final StringBuilder out = new StringBuilder();
    private int at;
    private boolean ignoreCase;
    private char lastLiteral;

    /** Whether the last item may be followed by a quantifier, and where it begins in the output. */
    private int itemStart = -1;

    Translator(String regex) {
      this.regex = regex;
    }

    String translate() {
      alternatives();
      if (at < regex.length()) {
        throw unsupported("unmatched )");
      }
      return out.toString();
    }

    private void alternatives() {
      boolean outer = ignoreCase;
      while (at < regex.length() && regex.charAt(at) != ')') {
        char c = regex.charAt(at);
        switch (c) {
          case '|' -> {
            at++;
            out.append('|');
            itemStart = -1;
            lastLiteral = 0;
          }
          case '(' -> group();
          case '[' -> {
            int start = out.length();
            characterClass();
            item(start);
          }
          case '\\' -> {
            int start = out.length();
            escape(false);
            item(start);
          }
          case '*', '+', '?' -> {
            at++;
            quantifier(String.valueOf(c), true);
          }
          case '{' -> interval();
          case '.' -> {
            at++;
            int start = out.length();
            out.append("[^\\n]");
            item(start);
          }
          case '^', '$' -> {
            at++;
            out.append(c);
            itemStart = -1;
            lastLiteral = 0;
          }
          default -> {
            int start = out.length();
            literal(regex.codePointAt(at));
            at += Character.charCount(regex.codePointAt(at));
            itemStart = start;
          }
        }
      }
      ignoreCase = outer;
    }

    private void item(int start) {
      itemStart = start;
      lastLiteral = 0;
    }

    private void group() {
      int start = out.length();
      int close;
      boolean outer = ignoreCase;
      if (!regex.startsWith("(?", at)) {
        // A capturing group; nothing refers to it, since references are refused.
        at++;
        out.append("(?:");
      } else if (regex.startsWith("(?:", at)
          || regex.startsWith("(?=", at)
          || regex.startsWith("(?!", at)
          || regex.startsWith("(?>", at)) {
        out.append(regex, at, at + 3);
        at += 3;
      } else if (regex.startsWith("(?<=", at) || regex.startsWith("(?<!", at)) {
        out.append(regex, at, at + 4);
        at += 4;
      } else if (regex.startsWith("(?i:", at)) {
        ignoreCase = true;
        out.append("(?iu:");
        at += 4;
      } else if (regex.startsWith("(?-i:", at)) {
        ignoreCase = false;
        out.append("(?-iu:");
        at += 5;
      } else if (regex.startsWith("(?i)", at)) {
        // Holds to the end of the enclosing group, the alternatives after it included.
        ignoreCase = true;
        at += 4;
        out.append("(?iu:");
        itemStart = -1;
        lastLiteral = 0;
        alternatives();
        out.append(')');
        return;
      } else {
        throw unsupported("this kind of group");
      }
      itemStart = -1;
      lastLiteral = 0;
      alternatives();
      close = at;
      if (close >= regex.length()) {
        throw unsupported("unclosed group");
      }
      at++;
      out.append(')');
      ignoreCase = outer;
      item(start);
    }

    private void quantifier(String symbol, boolean possessiveAllowed) {
      if (itemStart < 0) {
        throw unsupported("a quantifier without a target");
      }
      out.append(symbol);
      if (at < regex.length()) {
        char c = regex.charAt(at);
        if (c == '?') {
          at++;
          out.append('?');
        } else if (c == '+' && possessiveAllowed) {
          at++;
          out.append('+');
        }
      }
      afterQuantifier();
    }

    /** A further quantifier repeats the quantified item as a whole. */
    private void afterQuantifier() {
      lastLiteral = 0;
      if (at < regex.length() && "*+?{".indexOf(regex.charAt(at)) >= 0) {
        out.insert(itemStart, "(?:").append(')');
      }
    }

    private void interval() {
      int close = regex.indexOf('}', at);
      String body = close < 0 ? "" : regex.substring(at + 1, close);
      if (!body.matches("\\d+|\\d+,|,\\d+|\\d+,\\d+")) {
        throw unsupported("a brace that is no interval");
      }
      if (itemStart < 0) {
        throw unsupported("a quantifier without a target");
      }
      at = close + 1;
      boolean fixed = body.indexOf(',') < 0;
      out.append('{').append(body.startsWith(",") ? "0" + body : body).append('}');
      if (!fixed && at < regex.length() && regex.charAt(at) == '?') {
        at++;
        out.append('?');
      }
      afterQuantifier();
    }

    private void literal(int codePoint) {
      if (ignoreCase) {
        if (codePoint > 0x7F) {
          throw unsupported("a character beyond ASCII where case is ignored");
        }
        char lower = (char) Character.toLowerCase(codePoint);
        for (String pair : FOLDED_PAIRS) {
          if (lastLiteral == pair.charAt(0) && lower == pair.charAt(1)) {
            throw unsupported("'" + pair + "' where case is ignored");
          }
        }
        lastLiteral = lower;
      }
      append(out, codePoint);
    }

    private static void append(StringBuilder out, int codePoint) {
      if (codePoint < 0x80 && !Character.isLetterOrDigit(codePoint)) {
        out.append(String.format(Locale.ROOT, "\\x{%X}", codePoint));
      } else if (codePoint < 0x80) {
        out.append((char) codePoint);
      } else {
        out.append(String.format(Locale.ROOT, "\\x{%X}", codePoint));
      }
    }

    /** An escape, in a class or outside; {@code at} is at the backslash. */
    private void escape(boolean inClass) {
      if (at + 1 >= regex.length()) {
        throw unsupported("a trailing backslash");
      }
      char c = regex.charAt(at + 1);
      switch (c) {
        case 'p', 'P' -> property();
        case 's' -> shorthand("[" + SPACES + "]");
        case 'S' -> shorthand("[^" + SPACES + "]");
        case 'd' -> shorthand(classOf("Nd"));
        case 'D' -> shorthand(negated(classOf("Nd")));
        case 'w' -> shorthand(word());
        case 'W' -> shorthand(negated(word()));
        case 'h' -> shorthand("[0-9a-fA-F]");
        case 'H' -> shorthand("[^0-9a-fA-F]");
        case 'A', 'z' -> {
          if (inClass) {
            throw unsupported("\\" + c + " in a class");
          }
          at += 2;
          out.append('\\').append(c);
        }
        case 'b', 'B' -> {
          if (inClass) {
            throw unsupported("\\" + c + " in a class");
          }
          at += 2;
          String w = word();
          out.append(
              c == 'b'
                  ? "(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))"
                  : "(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w + "))");
        }
        default -> literal(escapedCodePoint());
      }
    }

    private void shorthand(String javaClass) {
      if (ignoreCase) {
        throw unsupported("a class where case is ignored");
      }
      at += 2;
      out.append(javaClass);
    }

    /** A backslash and what follows it, as one character. */
    private int escapedCodePoint() {
      char c = regex.charAt(at + 1);
      at += 2;
      return switch (c) {
        case 'n' -> '\n';
        case 'r' -> '\r';
        case 't' -> '\t';
        case 'f' -> '\f';
        case 'v' -> 0xB;
        case 'a' -> 0x7;
        case 'e' -> 0x1B;
        case 'u' -> hexadecimal(4, 4);
        case 'x' -> {
          if (at < regex.length() && regex.charAt(at) == '{') {
            int close = regex.indexOf('}', at);
            if (close < 0) {
              throw unsupported("an unclosed \\x{");
            }
            int codePoint = parseHex(regex.substring(at + 1, close));
            at = close + 1;
            yield codePoint;
          }
          int codePoint = hexadecimal(1, 2);
          if (codePoint > 0x7F) {
            // In Oniguruma a raw byte of the encoding, not a code point.
            throw unsupported("a byte beyond ASCII");
          }
          yield codePoint;
        }
        default -> {
          if (Character.isLetterOrDigit(c)) {
            throw unsupported("\\" + c);
          }
          if (Character.isSurrogate(c)) {
            at++;
            yield regex.codePointAt(at - 2);
          }
          yield c;
        }
      };
    }

    private int hexadecimal(int least, int most) {
      int end = at;
      while (end < regex.length()
          && end - at < most
          && Character.digit(regex.charAt(end), 16) >= 0) {
        end++;
      }
      if (end - at < least) {
        throw unsupported("an incomplete hexadecimal escape");
      }
      int value = parseHex(regex.substring(at, end));
      at = end;
      return value;
    }

    private int parseHex(String digits) {
      try {
        int value = Integer.parseInt(digits, 16);
        if (Character.isValidCodePoint(value)) {
          return value;
        }
      } catch (NumberFormatException e) {
        // reported below
      }
      throw unsupported("the code point " + digits);
    }

    private void property() {
      if (ignoreCase) {
        throw unsupported("a property where case is ignored");
      }
      boolean negative = regex.charAt(at + 1) == 'P';
      int close = regex.indexOf('}', at);
      if (!regex.startsWith("{", at + 2) || close < 0) {
        throw unsupported("a property without braces");
      }
      String name = regex.substring(at + 3, close);
      if (name.startsWith("^")) {
        negative = !negative;
        name = name.substring(1);
      }
      at = close + 1;
      String javaClass = classOf(name);
      out.append(negative ? negated(javaClass) : javaClass);
    }

    private String classOf(String name) {
      String known = CLASSES.get(name);
      if (known == null) {
        known = describe(name);
        CLASSES.put(name, known);
      }
      return known;
    }

    /** A Java class with the code points of a category or script of {@link CodePoints}. */
    private String describe(String name) {
      int set = CodePoints.categories(name);
      if (set == 0) {
        int[] script = CodePoints.script(name);
        if (script == null) {
          throw unsupported("the property " + name);
        }
        StringBuilder ranges = new StringBuilder("[");
        appendRanges(ranges, script);
        return ranges.append(']').toString();
      }
      StringBuilder javaClass = new StringBuilder("[");
      StringBuilder removed = new StringBuilder();
      for (String category : CodePoints.names(set)) {
        int code = CodePoints.categories(category);
        int type = CodePoints.javaType(category);
        javaClass.append("\\p{").append(category).append('}');
        appendRanges(
            javaClass,
            CodePoints.ranges(c -> CodePoints.in(code, c) && Character.getType(c) != type));
        appendRanges(
            removed,
            CodePoints.ranges(c -> !CodePoints.in(set, c) && Character.getType(c) == type));
      }
      if (removed.length() > 0) {
        javaClass.append("&&[^").append(removed).append(']');
      }
      return javaClass.append(']').toString();
    }

    /** Oniguruma's {@code \w}, which knows superscript digits and fractions but no joiners. */
    private String word() {
      String known = CLASSES.get("\\w");
      if (known == null) {
        StringBuilder javaClass = new StringBuilder("[");
        for (String name : new String[] {"L", "M", "Nd", "Nl", "Pc"}) {
          javaClass.append(classOf(name));
        }
        appendRanges(
            javaClass,
            CodePoints.ranges(
                c ->
                    CodePoints.isWord(c)
                        && c != 0x200C
                        && c != 0x200D
                        && !CodePoints.in(CodePoints.WORD_CATEGORIES, c)));
        known = javaClass.append("\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}]").toString();
        CLASSES.put("\\w", known);
      }
      return known;
    }

    private static String negated(String javaClass) {
      return "[^" + javaClass + "]";
    }

    private static void appendRanges(StringBuilder out, int[] ranges) {
      for (int i = 0; i < ranges.length; i += 2) {
        append(out, ranges[i]);
        if (ranges[i + 1] > ranges[i]) {
          out.append('-');
          append(out, ranges[i + 1]);
        }
      }
    }

    private void characterClass() {
      at++;
      out.append('[');
      if (at < regex.length() && regex.charAt(at) == '^') {
        at++;
        out.append('^');
      }
      boolean empty = true;
      while (true) {
        if (at >= regex.length()) {
          throw unsupported("an unclosed class");
        }
        char c = regex.charAt(at);
        if (c == ']' && !empty) {
          at++;
          out.append(']');
          return;
        }
        if (c == '[') {
          if (regex.startsWith("[:", at)) {
            throw unsupported("a POSIX bracket");
          }
          characterClass();
        } else if (regex.startsWith("&&", at)) {
          at += 2;
          out.append("&&");
        } else if (c == '\\' && at + 1 < regex.length() && isClassEscape(regex.charAt(at + 1))) {
          escape(true);
          if (regex.startsWith("-", at) && !regex.startsWith("-]", at)) {
            throw unsupported("a range that begins with a class");
          }
        } else {
          range();
        }
        empty = false;
      }
    }

    private static boolean isClassEscape(char c) {
      return "pPsSdDwWhHAzbB".indexOf(c) >= 0;
    }

    private void range() {
      int first = classCharacter();
      int last = first;
      if (regex.startsWith("-", at) && at + 1 < regex.length() && regex.charAt(at + 1) != ']') {
        if (regex.charAt(at + 1) == '['
            || (regex.charAt(at + 1) == '\\'
                && at + 2 < regex.length()
                && isClassEscape(regex.charAt(at + 2)))) {
          throw unsupported("a range that ends with a class");
        }
        at++;
        last = classCharacter();
      }
      if (last < first) {
        throw unsupported("an empty range");
      }
      if (ignoreCase && last > 0x7F) {
        throw unsupported("a character beyond ASCII where case is ignored");
      }
      appendRanges(out, new int[] {first, last});
    }

    private int classCharacter() {
      if (regex.charAt(at) == '\\') {
        if (at + 1 >= regex.length()) {
          throw unsupported("a trailing backslash");
        }
        return escapedCodePoint();
      }
      int codePoint = regex.codePointAt(at);
      at += Character.charCount(codePoint);
      return codePoint;
    }

    private UnsupportedRegexException unsupported(String what) {
      return new UnsupportedRegexException(regex, what);
    }
  }
}
