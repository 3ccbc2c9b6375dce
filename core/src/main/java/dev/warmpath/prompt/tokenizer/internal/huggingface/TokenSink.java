package dev.warmpath.prompt.tokenizer.internal.huggingface;

/**
 * A step of decoding. It takes tokens as text, each in one or more parts with an end, and passes on
 * what is certain; so a step that joins all tokens into one still lets text flow.
 */
interface TokenSink {
  /** A part of the current token, never half a surrogate pair. */
  void part(String text);

  /** The current token is complete. */
  void endToken();

  /** There are no more tokens. */
  void finish();
}
