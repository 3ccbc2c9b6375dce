package dev.warmpath.prompt.tokenizer.internal.huggingface;

/** What a tokenizer puts before and after a text on request. */
final class SpecialTokens {
  static final SpecialTokens NONE = new SpecialTokens(new int[0], new int[0]);

  private final int[] prefix;
  private final int[] suffix;

  SpecialTokens(int[] prefix, int[] suffix) {
    this.prefix = prefix;
    this.suffix = suffix;
  }

  int[] prefix() {
    return prefix;
  }

  int[] suffix() {
    return suffix;
  }
}
