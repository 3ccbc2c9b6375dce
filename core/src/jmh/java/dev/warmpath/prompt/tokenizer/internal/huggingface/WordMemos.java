package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.Tokenizer;

/** Opens what a benchmark needs and an application does not. */
public final class WordMemos {
  private WordMemos() {}

  /** Makes a tokenizer forget the words it has seen. */
  public static void clear(Tokenizer tokenizer) {
    ((BytePairTokenizer) tokenizer).clearMemo();
  }
}
