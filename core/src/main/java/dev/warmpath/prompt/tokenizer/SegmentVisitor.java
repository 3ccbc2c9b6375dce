package dev.warmpath.prompt.tokenizer;

/** Receives the segments of a text in order, from {@link Tokenizer#cut}. */
public interface SegmentVisitor {
  /**
   * A stretch of text between added tokens; never empty.
   *
   * @param from offset of its first byte
   * @param to offset after its last byte
   * @param first whether it stands at the very start of the text; matters to tokenizers whose
   *     {@link Tokenizer#positionSensitive()} says so
   */
  void text(int from, int to, boolean first);

  /**
   * An added token.
   *
   * @param from offset of its first byte, white space that it swallows included
   * @param to offset after its last byte, white space that it swallows included
   * @param id its token id
   */
  void added(int from, int to, int id);
}
