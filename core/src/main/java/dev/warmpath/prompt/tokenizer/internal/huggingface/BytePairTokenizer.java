package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.AddedToken;
import dev.warmpath.prompt.tokenizer.Detokenizer;
import dev.warmpath.prompt.tokenizer.SegmentVisitor;
import dev.warmpath.prompt.tokenizer.TokenBuffer;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A byte-pair tokenizer as {@code tokenizer.json} describes it. */
final class BytePairTokenizer implements Tokenizer {
  private final TokenTexts tokenTexts;
  private final TokenMatcher given;
  private final TokenMatcher normalized;
  private final @Nullable Normalizer normalizer;
  private final Words words;
  private final BytePairModel model;
  private final int[] prefix;
  private final int[] suffix;
  private final ScratchPool scratches = new ScratchPool();

  /**
   * How a normalized text is split into words: by a scanner at full speed, or by the general
   * pre-tokenizer.
   *
   * @param scanner finds the words, if there is one for this tokenizer
   * @param leadingSpace whether a text that begins without a space gets one; only with a scanner
   * @param general splits where there is no scanner
   * @param positionSensitive whether the first piece of a text is treated specially
   */
  record Words(
      @Nullable WordScanner scanner,
      boolean leadingSpace,
      PreTokenizer general,
      boolean positionSensitive) {}

  /**
   * A tokenizer.
   *
   * @param normalizer null if texts stay as they are
   */
  BytePairTokenizer(
      TokenTexts tokenTexts,
      AddedVocabulary added,
      boolean skipSpecialTokens,
      @Nullable Normalizer normalizer,
      Words words,
      BytePairModel model,
      SpecialTokens specialTokens) {
    this.tokenTexts = tokenTexts;
    this.normalizer = normalizer;
    this.words = words;
    this.model = model;
    this.prefix = specialTokens.prefix();
    this.suffix = specialTokens.suffix();
    Normalizer applied = normalizer == null ? text -> text : normalizer;
    given = added.matcher(false, applied, skipSpecialTokens);
    normalized = added.matcher(true, applied, skipSpecialTokens);
  }

  @Override
  public void cut(byte[] utf8, int from, int to, SegmentVisitor visitor) {
    if (normalizer != null || normalized.isEmpty()) {
      given.cut(utf8, from, to, true, visitor);
      return;
    }
    // A text that stays as it is can be searched for both kinds of tokens before anything else.
    given.cut(
        utf8,
        from,
        to,
        true,
        new SegmentVisitor() {
          @Override
          public void text(int start, int end, boolean first) {
            normalized.cut(utf8, start, end, first, visitor);
          }

          @Override
          public void added(int start, int end, int id) {
            visitor.added(start, end, id);
          }
        });
  }

  @Override
  public void encodeSegment(byte[] utf8, int from, int to, boolean first, TokenBuffer out) {
    Slice text = new Slice(utf8, from, to);
    if (Utf8.firstMalformed(utf8, from, to) < to) {
      text = Slice.of(Utf8.repair(utf8, from, to));
    }
    if (normalizer == null) {
      encodeWords(text.bytes(), text.from(), text.to(), first, out);
      return;
    }
    text = normalizer.normalize(text);
    if (normalized.isEmpty()) {
      encodeWords(text.bytes(), text.from(), text.to(), first, out);
      return;
    }
    byte[] bytes = text.bytes();
    normalized.cut(
        bytes,
        text.from(),
        text.to(),
        first,
        new SegmentVisitor() {
          @Override
          public void text(int start, int end, boolean isFirst) {
            encodeWords(bytes, start, end, isFirst, out);
          }

          @Override
          public void added(int start, int end, int id) {
            out.add(id);
          }
        });
  }

  private void encodeWords(byte[] bytes, int from, int to, boolean first, TokenBuffer out) {
    if (from == to) {
      return;
    }
    Scratch scratch = scratches.take();
    WordScanner scanner = words.scanner();
    if (scanner == null) {
      words
          .general()
          .split(
              bytes,
              from,
              to,
              first,
              (piece, start, end, isFirst) -> model.encode(piece, start, end, scratch, out));
    } else if (words.leadingSpace() && bytes[from] != ' ') {
      byte[] spaced = new byte[to - from + 1];
      spaced[0] = ' ';
      System.arraycopy(bytes, from, spaced, 1, to - from);
      scan(scanner, spaced, 0, spaced.length, scratch, out);
    } else {
      scan(scanner, bytes, from, to, scratch, out);
    }
    scratches.give(scratch);
  }

  private void scan(
      WordScanner scanner, byte[] bytes, int from, int to, Scratch scratch, TokenBuffer out) {
    int at = from;
    while (at < to) {
      int end = scanner.next(bytes, at, to);
      model.encode(bytes, at, end, scratch, out);
      at = end;
    }
  }

  @Override
  public boolean positionSensitive() {
    return words.positionSensitive();
  }

  @Override
  public int[] prefixTokens() {
    return prefix.clone();
  }

  @Override
  public int[] suffixTokens() {
    return suffix.clone();
  }

  @Override
  public Detokenizer detokenizer(boolean skipSpecialTokens) {
    return tokenTexts.detokenizer(skipSpecialTokens);
  }

  @Override
  public OptionalInt tokenId(String token) {
    return tokenTexts.id(token);
  }

  @Override
  public @Nullable String token(int id) {
    return tokenTexts.written(id);
  }

  @Override
  public int vocabularySize() {
    return tokenTexts.size();
  }

  @Override
  public List<AddedToken> addedTokens() {
    return tokenTexts.added();
  }

  /** For measurements of the first encounter with a text. */
  void clearMemo() {
    model.clearMemo();
  }
}
