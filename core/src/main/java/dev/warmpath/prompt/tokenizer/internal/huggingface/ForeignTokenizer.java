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

/**
 * A tokenizer whose encoding someone else carries out; what is known of its tokens comes from the
 * same {@code tokenizer.json}. A text is one segment.
 */
public final class ForeignTokenizer implements Tokenizer {
  private final Engine engine;
  private final TokenTexts tokenTexts;
  private final SpecialTokens specialTokens;

  /** What carries the model out; safe for any number of threads. */
  @FunctionalInterface
  public interface Engine {
    /**
     * The ids of a text, without special tokens around it.
     *
     * @param text well-formed text
     * @return the ids
     */
    long[] encode(String text);
  }

  ForeignTokenizer(Engine engine, TokenTexts tokenTexts, SpecialTokens specialTokens) {
    this.engine = engine;
    this.tokenTexts = tokenTexts;
    this.specialTokens = specialTokens;
  }

  @Override
  public void cut(byte[] utf8, int from, int to, SegmentVisitor visitor) {
    if (from < to) {
      visitor.text(from, to, true);
    }
  }

  @Override
  public void encodeSegment(byte[] utf8, int from, int to, boolean first, TokenBuffer out) {
    for (long id : engine.encode(Utf8.decode(utf8, from, to))) {
      out.add((int) id);
    }
  }

  @Override
  public boolean positionSensitive() {
    return false;
  }

  @Override
  public int[] prefixTokens() {
    return specialTokens.prefix().clone();
  }

  @Override
  public int[] suffixTokens() {
    return specialTokens.suffix().clone();
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
}
