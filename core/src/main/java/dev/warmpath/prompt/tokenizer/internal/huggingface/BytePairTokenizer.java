package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.AddedToken;
import dev.warmpath.prompt.tokenizer.Detokenizer;
import dev.warmpath.prompt.tokenizer.SegmentVisitor;
import dev.warmpath.prompt.tokenizer.TokenBuffer;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A byte-pair tokenizer as {@code tokenizer.json} describes it. */
final class BytePairTokenizer implements Tokenizer {
  private final Vocabulary vocabulary;
  private final AddedVocabulary added;
  private final TokenMatcher given;
  private final TokenMatcher normalized;
  private final @Nullable Normalizer normalizer;
  private final Words words;
  private final BytePairModel model;
  private final int[] prefix;
  private final int[] suffix;
  private final Decoding decoding;
  private final List<AddedToken> addedTokens;
  private final int size;
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
   * How tokens become text.
   *
   * @param byteLevel whether the tokens' bytes, one after another, are the text in UTF-8
   * @param steps what else is done to the tokens; not used for byte-level decoding
   */
  record Decoding(boolean byteLevel, List<Decoders.Step> steps) {}

  /**
   * A tokenizer.
   *
   * @param normalizer null if texts stay as they are
   */
  BytePairTokenizer(
      Vocabulary vocabulary,
      AddedVocabulary added,
      boolean skipSpecialTokens,
      @Nullable Normalizer normalizer,
      Words words,
      BytePairModel model,
      SpecialTokens specialTokens,
      Decoding decoding) {
    this.vocabulary = vocabulary;
    this.added = added;
    this.normalizer = normalizer;
    this.words = words;
    this.model = model;
    this.prefix = specialTokens.prefix();
    this.suffix = specialTokens.suffix();
    this.decoding = decoding;
    Normalizer applied = normalizer == null ? text -> text : normalizer;
    given = added.matcher(false, applied, skipSpecialTokens);
    normalized = added.matcher(true, applied, skipSpecialTokens);
    addedTokens = added.all();
    int greatest = vocabulary.size() - 1;
    for (AddedToken token : addedTokens) {
      greatest = Math.max(greatest, token.id());
    }
    size = greatest + 1;
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
    return decoding.byteLevel()
        ? new ByteLevelDetokenizer(skipSpecialTokens)
        : new SteppedDetokenizer(skipSpecialTokens);
  }

  @Override
  public OptionalInt tokenId(String token) {
    int id = added.find(token);
    return id < 0 ? OptionalInt.empty() : OptionalInt.of(id);
  }

  @Override
  public @Nullable String token(int id) {
    AddedToken token = added.get(id);
    return token != null ? token.content() : vocabulary.token(id);
  }

  @Override
  public int vocabularySize() {
    return size;
  }

  @Override
  public List<AddedToken> addedTokens() {
    return addedTokens;
  }

  /** For measurements of the first encounter with a text. */
  void clearMemo() {
    model.clearMemo();
  }

  private boolean isSkipped(int id) {
    AddedToken token = added.get(id);
    return added.isSpecial(token != null ? token.content() : String.valueOf(token(id)));
  }

  /** For byte-level tokenizers: the bytes of the tokens, one after another, are the text. */
  private final class ByteLevelDetokenizer implements Detokenizer {
    private final boolean skipsSpecial;
    private final StreamingUtf8 utf8 = new StreamingUtf8();

    ByteLevelDetokenizer(boolean skipsSpecial) {
      this.skipsSpecial = skipsSpecial;
    }

    @Override
    public String append(int id) {
      AddedToken token = added.get(id);
      if (token != null) {
        if (skipsSpecial && added.isSpecial(token.content())) {
          return "";
        }
        byte[] written = token.content().getBytes(StandardCharsets.UTF_8);
        byte[] raw = ByteLevel.toBytes(written, 0, written.length);
        return utf8.append(raw != null ? raw : written);
      }
      return vocabulary.contains(id) ? vocabulary.appendTo(utf8, id) : "";
    }

    @Override
    public String finish() {
      return utf8.finish();
    }
  }

  /** For all other tokenizers: the decoder's steps, one after another. */
  private final class SteppedDetokenizer implements Detokenizer {
    private final boolean skipsSpecial;
    private final StringBuilder ready = new StringBuilder();
    private final TokenSink first;

    SteppedDetokenizer(boolean skipsSpecial) {
      this.skipsSpecial = skipsSpecial;
      TokenSink sink =
          new TokenSink() {
            @Override
            public void part(String text) {
              ready.append(text);
            }

            @Override
            public void endToken() {}

            @Override
            public void finish() {}
          };
      List<Decoders.Step> steps = decoding.steps();
      for (int i = steps.size() - 1; i >= 0; i--) {
        sink = steps.get(i).before(sink);
      }
      first = sink;
    }

    @Override
    public String append(int id) {
      String token = token(id);
      if (token == null || skipsSpecial && isSkipped(id)) {
        return "";
      }
      first.part(token);
      first.endToken();
      return take();
    }

    @Override
    public String finish() {
      first.finish();
      return take();
    }

    private String take() {
      String text = ready.toString();
      ready.setLength(0);
      return text;
    }
  }
}
