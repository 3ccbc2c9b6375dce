package dev.warmpath.prompt;

import dev.warmpath.prompt.tokenizer.Detokenizer;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.TokenDecoder;
import java.util.List;

/** A prompt's tokens and the tokenizer that made them. */
final class ModelTokens implements PromptTokens {
  /**
   * Tokens of the prompt that a decoder is shown first, as many as vLLM and SGLang show theirs:
   * what follows them is then no beginning of a text, where some tokenizers drop a space.
   */
  private static final int CONTEXT = 5;

  private final TokenSegments segments;
  private final Tokenizer tokenizer;

  ModelTokens(TokenSegments segments, Tokenizer tokenizer) {
    this.segments = segments;
    this.tokenizer = tokenizer;
  }

  @Override
  public int size() {
    return segments.size();
  }

  @Override
  public int[] ids() {
    return segments.toArray();
  }

  @Override
  public TokenDecoder decoder(boolean skipSpecialTokens) {
    Detokenizer decoder = tokenizer.detokenizer(skipSpecialTokens);
    for (int id : last()) {
      String unused = decoder.append(id);
    }
    return decoder;
  }

  private int[] last() {
    List<int[]> parts = segments.parts();
    int[] last = new int[Math.min(CONTEXT, segments.size())];
    int at = last.length;
    for (int part = parts.size() - 1; part >= 0 && at > 0; part--) {
      int[] ids = parts.get(part);
      for (int i = ids.length - 1; i >= 0 && at > 0; i--) {
        last[--at] = ids[i];
      }
    }
    return last;
  }

  @Override
  public String text(int id) {
    return tokenizer.decode(new int[] {id}, false);
  }

  /** Their number only: never the ids. */
  @Override
  public String toString() {
    return segments.size() + " tokens";
  }
}
