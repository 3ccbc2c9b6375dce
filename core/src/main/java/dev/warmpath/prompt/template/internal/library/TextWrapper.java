package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Text;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code textwrap.wrap} without expansion of tabs and replacement of white space. */
final class TextWrapper {
  private static final String SPACE = "[\\t\\n\\x0b\\x0c\\r ]";
  private static final String LETTER = "[\\p{L}\\p{Nl}\\p{No}_]";
  private static final String WORD = "[\\p{L}\\p{N}_]";
  private static final String WORD_OR_MARK = "[\\p{L}\\p{N}_!\"'&.,?]";

  /** White space; a dash between words; a word up to a hyphen, its end or a dash. */
  private static final Pattern CHUNK =
      Pattern.compile(
          (SPACE
                  + "+|(?<=WM)-{2,}(?=W)|[^\\t\\n"
                  + "\\x0b\\x0c\\r"
                  + " ]+?(?:-(?:(?<=L{2}-)|(?<=L-L-))(?=L-?L)|(?="
                  + SPACE
                  + "|\\z)|(?<=WM)(?=-{2,}W))")
              .replace("WM", WORD_OR_MARK)
              .replace("W", WORD)
              .replace("L-", LETTER + "-")
              .replace("L{", LETTER + "{")
              .replace("?L)", "?" + LETTER + ")"));

  private static final Pattern SIMPLE_CHUNK = Pattern.compile(SPACE + "+|[^\\t\\n\\x0b\\x0c\\r ]+");

  private final Rendering r;
  private final long width;
  private final boolean breakLongWords;
  private final boolean breakOnHyphens;

  TextWrapper(Rendering r, Object width, boolean breakLongWords, boolean breakOnHyphens) {
    this.r = r;
    this.breakLongWords = breakLongWords;
    this.breakOnHyphens = breakOnHyphens;
    if (Compare.ordered(r, width, 0L, Compare.Order.LE)) {
      throw PyError.value("invalid width " + Repr.of(r, width) + " (must be > 0)");
    }
    this.width = Numbers.isFloat(width) ? (long) Numbers.asDouble(width) : Numbers.index(width);
  }

  List<String> wrap(String text) {
    Deque<String> chunks = chunks(text);
    List<String> lines = new ArrayList<>();
    while (!chunks.isEmpty()) {
      List<String> line = new ArrayList<>();
      long length = 0;
      if (!lines.isEmpty() && isBlank(chunks.getFirst())) {
        chunks.removeFirst();
      }
      while (!chunks.isEmpty() && length + Text.length(chunks.getFirst()) <= width) {
        length += Text.length(chunks.getFirst());
        line.add(chunks.removeFirst());
      }
      if (!chunks.isEmpty() && Text.length(chunks.getFirst()) > width) {
        breakLongWord(chunks, line, width - length);
      }
      if (!line.isEmpty() && isBlank(line.get(line.size() - 1))) {
        line.remove(line.size() - 1);
      }
      if (!line.isEmpty()) {
        lines.add(String.join("", line));
      }
    }
    return lines;
  }

  private void breakLongWord(Deque<String> chunks, List<String> line, long room) {
    if (!breakLongWords) {
      if (line.isEmpty()) {
        line.add(chunks.removeFirst());
      }
      return;
    }
    String word = chunks.removeFirst();
    r.chargeChars(word.length());
    int end = (int) Math.min(room, Text.length(word));
    if (breakOnHyphens && Text.length(word) > room) {
      String head = Text.substring(word, 0, end);
      int hyphen = head.lastIndexOf('-');
      if (hyphen > 0 && head.substring(0, hyphen).chars().anyMatch(c -> c != '-')) {
        end = head.codePointCount(0, hyphen) + 1;
      }
    }
    line.add(Text.substring(word, 0, end));
    chunks.addFirst(Text.substring(word, end, Text.length(word)));
  }

  private static boolean isBlank(String s) {
    return Text.strip(s).isEmpty();
  }

  private Deque<String> chunks(String text) {
    r.chargeChars(text.length() * 4L);
    Deque<String> chunks = new ArrayDeque<>();
    Matcher matcher = (breakOnHyphens ? CHUNK : SIMPLE_CHUNK).matcher(text);
    int at = 0;
    while (matcher.find()) {
      if (matcher.start() > at) {
        chunks.add(text.substring(at, matcher.start()));
      }
      chunks.add(matcher.group());
      at = matcher.end();
    }
    if (at < text.length()) {
      chunks.add(text.substring(at));
    }
    return chunks;
  }
}
