package dev.warmpath.transport;

/**
 * Turns token ids into text as they arrive. Text is handed out once it can no longer change: never
 * half a UTF-8 character. For one stream; not for use by several threads.
 */
public interface TokenDecoder {
  /**
   * Takes the next id.
   *
   * @param id a token id; one that the vocabulary lacks is ignored
   * @return the text that became certain, often empty
   */
  String append(int id);

  /**
   * Ends the stream.
   *
   * @return the text that was held back, with U+FFFD for characters that stayed incomplete
   */
  String finish();
}
