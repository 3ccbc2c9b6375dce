package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Bytes;
import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.Arrays;
import java.util.List;

/** Splits a text into the pieces that the model encodes one by one. */
@FunctionalInterface
interface PreTokenizer {
  /**
   * Splits a piece that is not empty.
   *
   * @param first whether the piece stands at the start of the whole text
   */
  void split(byte[] utf8, int from, int to, boolean first, Sink out);

  /** Receives pieces; empty ones are left out. */
  @FunctionalInterface
  interface Sink {
    void piece(byte[] utf8, int from, int to, boolean first);
  }

  /** What becomes of the matches of a split. */
  enum Behavior {
    /** They are dropped. */
    REMOVED,
    /** Each is a piece. */
    ISOLATED,
    /** Each joins the piece before it. */
    MERGED_WITH_PREVIOUS,
    /** Each joins the piece after it. */
    MERGED_WITH_NEXT,
    /** Adjacent ones are one piece. */
    CONTIGUOUS
  }

  /** One after another, each on the pieces of the one before. */
  static PreTokenizer sequence(List<PreTokenizer> steps) {
    if (steps.isEmpty()) {
      return (utf8, from, to, first, out) -> out.piece(utf8, from, to, first);
    }
    PreTokenizer head = steps.get(0);
    if (steps.size() == 1) {
      return head;
    }
    PreTokenizer tail = sequence(steps.subList(1, steps.size()));
    return (utf8, from, to, first, out) ->
        head.split(
            utf8,
            from,
            to,
            first,
            (bytes, start, end, isFirst) -> tail.split(bytes, start, end, isFirst, out));
  }

  /** The words of a scanner. */
  static PreTokenizer words(WordScanner scanner) {
    return (utf8, from, to, first, out) -> {
      for (int at = from; at < to; ) {
        int end = scanner.next(utf8, at, to);
        out.piece(utf8, at, end, first && at == from);
        at = end;
      }
    };
  }

  /** Splits at matches, or at what lies between them. */
  static PreTokenizer split(Splits pattern, Behavior behavior, boolean invert) {
    return (utf8, from, to, first, out) -> {
      Pieces pieces = new Pieces(behavior);
      int[] last = {from};
      pattern.find(
          utf8,
          from,
          to,
          (start, end) -> {
            if (last[0] < start) {
              pieces.add(last[0], start, invert);
            }
            pieces.add(start, end, !invert);
            last[0] = end;
          });
      if (last[0] < to) {
        pieces.add(last[0], to, invert);
      }
      pieces.emit(utf8, from, first, out);
    };
  }

  /** The {@code Whitespace} pre-tokenizer: runs of word characters and runs of other signs. */
  static PreTokenizer wordsAndSigns() {
    return (utf8, from, to, first, out) -> {
      int start = from;
      int kind = -1;
      for (int at = from; at <= to; ) {
        int next = -2;
        if (at < to) {
          int codePoint = Utf8.codePointAt(utf8, at);
          next = CodePoints.isWord(codePoint) ? 1 : CodePoints.isSpace(codePoint) ? 0 : 2;
        }
        if (next != kind) {
          if (kind > 0) {
            out.piece(utf8, start, at, first && start == from);
          }
          start = at;
          kind = next;
        }
        at += at < to ? Utf8.width(utf8[at]) : 1;
      }
    };
  }

  /** Pieces of a number of characters. */
  static PreTokenizer fixedLength(int characters) {
    return (utf8, from, to, first, out) -> {
      for (int start = from; start < to; ) {
        int end = start;
        for (int i = 0; i < characters && end < to; i++) {
          end += Utf8.width(utf8[end]);
        }
        out.piece(utf8, start, end, first && start == from);
        start = end;
      }
    };
  }

  /** Puts a space before a piece that doesn't begin with one. */
  static PreTokenizer leadingSpace() {
    return (utf8, from, to, first, out) -> {
      if (utf8[from] == ' ') {
        out.piece(utf8, from, to, first);
        return;
      }
      Bytes spaced = new Bytes(to - from + 1);
      spaced.append(' ');
      spaced.append(utf8, from, to);
      out.piece(spaced.array(), 0, spaced.size(), first);
    };
  }

  /** Writes each byte as its character of the byte-level alphabet. */
  static PreTokenizer byteLevelAlphabet() {
    return (utf8, from, to, first, out) -> {
      byte[] written = ByteLevel.fromBytes(utf8, from, to);
      out.piece(written, 0, written.length, first);
    };
  }

  /** Where {@link #metaspace} puts its mark before a piece that does not begin with one. */
  enum Prepend {
    /** Before the first piece of a text only. */
    FIRST,
    /** Never. */
    NEVER,
    /** Before each piece. */
    ALWAYS
  }

  /** Writes spaces as a mark and splits before each mark. */
  static PreTokenizer metaspace(byte[] mark, Prepend prepend, boolean split) {
    Normalizer replace = Normalizer.replace(Splits.literal(new byte[] {' '}), mark);
    PreTokenizer pieces =
        split ? split(Splits.literal(mark), Behavior.MERGED_WITH_NEXT, false) : sequence(List.of());
    return (utf8, from, to, first, out) -> {
      Slice text = replace.normalize(new Slice(utf8, from, to));
      boolean wanted = prepend == Prepend.ALWAYS || (prepend == Prepend.FIRST && first);
      if (wanted && !startsWith(text, mark)) {
        text = Normalizer.prepend(mark).normalize(text);
      }
      pieces.split(text.bytes(), text.from(), text.to(), first, out);
    };
  }

  private static boolean startsWith(Slice text, byte[] mark) {
    return text.to() - text.from() >= mark.length
        && Arrays.equals(
            text.bytes(), text.from(), text.from() + mark.length, mark, 0, mark.length);
  }

  /** Collects matches and what lies between them, and makes pieces of them. */
  final class Pieces {
    private final Behavior behavior;
    private int[] bounds = new int[64];
    private boolean[] matches = new boolean[32];
    private int count;

    Pieces(Behavior behavior) {
      this.behavior = behavior;
    }

    void add(int start, int end, boolean match) {
      if (count == matches.length) {
        bounds = Arrays.copyOf(bounds, bounds.length * 2);
        matches = Arrays.copyOf(matches, matches.length * 2);
      }
      bounds[2 * count] = start;
      bounds[2 * count + 1] = end;
      matches[count++] = match;
    }

    void emit(byte[] utf8, int from, boolean first, Sink out) {
      int start = 0;
      while (start < count) {
        int end = end(start);
        if (behavior != Behavior.REMOVED || !matches[start]) {
          int begin = bounds[2 * start];
          int stop = bounds[2 * end - 1];
          if (begin < stop) {
            out.piece(utf8, begin, stop, first && begin == from);
          }
        }
        start = end;
      }
    }

    /** The index after the last part of the piece that begins with a part. */
    private int end(int start) {
      int end = start + 1;
      switch (behavior) {
        case CONTIGUOUS -> {
          while (end < count && matches[end] == matches[start]) {
            end++;
          }
        }
        case MERGED_WITH_PREVIOUS -> {
          if (end < count && matches[end] && !matches[start]) {
            end++;
          }
        }
        case MERGED_WITH_NEXT -> {
          if (end < count && matches[start] && !matches[end]) {
            end++;
          }
        }
        case REMOVED, ISOLATED -> {}
      }
      return end;
    }
  }
}
