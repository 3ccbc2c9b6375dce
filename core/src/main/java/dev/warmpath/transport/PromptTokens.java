package dev.warmpath.transport;

/**
 * A prompt as token ids, with the way from ids back to text: for engines that take and give nothing
 * else. Thread safe; never logged.
 */
public interface PromptTokens {
  /** How many there are. */
  int size();

  /** The prompt's ids, a new array. */
  int[] ids();

  /**
   * Decodes the ids that follow this prompt, as one stream.
   *
   * @param skipSpecialTokens whether special tokens are left out of the text
   */
  TokenDecoder decoder(boolean skipSpecialTokens);

  /** One token's text by itself; empty for an id that the vocabulary lacks. */
  String text(int id);
}
