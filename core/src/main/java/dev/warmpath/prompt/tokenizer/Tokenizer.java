package dev.warmpath.prompt.tokenizer;

import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Text to token ids and back, exactly as the model's own tokenizer does it.
 *
 * <p>Implementations are immutable to their callers and safe for any number of threads. They never
 * block and hold no resource that must be closed.
 *
 * <p>Ill-formed UTF-8, and lone surrogates of strings, count as U+FFFD.
 */
public interface Tokenizer {
  /**
   * Appends the ids of a text.
   *
   * @param utf8 holds the text
   * @param from offset of its first byte
   * @param to offset after its last byte
   * @param addSpecialTokens whether the tokens that the model expects around a text (a
   *     beginning-of- sequence token, mostly) are added; chat templates write them out, so engines
   *     set this for plain completions only
   * @param out receives the ids
   */
  default void encode(byte[] utf8, int from, int to, boolean addSpecialTokens, TokenBuffer out) {
    if (addSpecialTokens) {
      out.addAll(prefixTokens());
    }
    cut(
        utf8,
        from,
        to,
        new SegmentVisitor() {
          @Override
          public void text(int start, int end, boolean first) {
            encodeSegment(utf8, start, end, first, out);
          }

          @Override
          public void added(int start, int end, int id) {
            out.add(id);
          }
        });
    if (addSpecialTokens) {
      out.addAll(suffixTokens());
    }
  }

  /**
   * The ids of a text.
   *
   * @param text the text
   * @param addSpecialTokens as in {@link #encode(byte[], int, int, boolean, TokenBuffer)}
   * @return the ids
   */
  default int[] encode(String text, boolean addSpecialTokens) {
    byte[] utf8 = Utf8.encode(text);
    TokenBuffer out = new TokenBuffer(utf8.length / 3 + 16);
    encode(utf8, 0, utf8.length, addSpecialTokens, out);
    return out.toArray();
  }

  /**
   * Cuts a text at the added tokens that can be recognized without looking at the text around them.
   * The ids of the segments, one after another, are the ids of the text without special tokens
   * added ({@link #encodeSegment} for stretches of text, the token itself for added tokens), so a
   * cache of segments is exact.
   *
   * @param utf8 holds the text
   * @param from offset of its first byte
   * @param to offset after its last byte
   * @param visitor receives the segments on this thread
   */
  void cut(byte[] utf8, int from, int to, SegmentVisitor visitor);

  /**
   * Appends the ids of a segment of text that {@link #cut} found.
   *
   * @param utf8 holds the segment
   * @param from offset of its first byte
   * @param to offset after its last byte
   * @param first whether the segment stands at the start of its text
   * @param out receives the ids
   */
  void encodeSegment(byte[] utf8, int from, int to, boolean first, TokenBuffer out);

  /**
   * Whether the ids of a segment depend on its being the first one. If not, {@code first} may be
   * left out of cache keys.
   *
   * @return true if {@code first} matters
   */
  boolean positionSensitive();

  /**
   * What {@code addSpecialTokens} puts before a text.
   *
   * @return a copy of the ids, often empty
   */
  int[] prefixTokens();

  /**
   * What {@code addSpecialTokens} puts after a text.
   *
   * @return a copy of the ids, mostly empty
   */
  int[] suffixTokens();

  /**
   * The text of ids.
   *
   * @param ids the ids; those that the vocabulary lacks are ignored
   * @param skipSpecialTokens whether special added tokens are left out
   * @return the text
   */
  default String decode(int[] ids, boolean skipSpecialTokens) {
    Detokenizer detokenizer = detokenizer(skipSpecialTokens);
    StringBuilder text = new StringBuilder(ids.length * 4);
    for (int id : ids) {
      text.append(detokenizer.append(id));
    }
    return text.append(detokenizer.finish()).toString();
  }

  /**
   * Decodes a stream of ids.
   *
   * @param skipSpecialTokens whether special added tokens are left out
   * @return a new detokenizer, for one stream
   */
  Detokenizer detokenizer(boolean skipSpecialTokens);

  /**
   * Looks up a token by its form in the vocabulary: byte-level forms such as {@code Ġthe} for
   * models that have them.
   *
   * @param token the form
   * @return its id
   */
  OptionalInt tokenId(String token);

  /**
   * Looks up a token by id.
   *
   * @param id the id
   * @return its form in the vocabulary, or null if there is no such id
   */
  @Nullable String token(int id);

  /**
   * The number of ids: one more than the greatest.
   *
   * @return the size
   */
  int vocabularySize();

  /**
   * The added tokens, special or not, by ascending id.
   *
   * @return an immutable list
   */
  List<AddedToken> addedTokens();
}
