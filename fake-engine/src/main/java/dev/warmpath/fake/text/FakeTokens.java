package dev.warmpath.fake.text;

import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.TokenDecoder;

/**
 * A prompt's tokens as fake engines count them; of ids, only those of answers become text again.
 */
final class FakeTokens implements PromptTokens {
  private final int[] ids;

  FakeTokens(int[] ids) {
    this.ids = ids;
  }

  @Override
  public int size() {
    return ids.length;
  }

  @Override
  public int[] ids() {
    return ids.clone();
  }

  /** Each id is a whole word. */
  @Override
  public TokenDecoder decoder(boolean skipSpecialTokens) {
    return new TokenDecoder() {
      @Override
      public String append(int id) {
        return text(id);
      }

      @Override
      public String finish() {
        return "";
      }
    };
  }

  @Override
  public String text(int id) {
    return PlannedText.word(id);
  }

  /** Their number only. */
  @Override
  public String toString() {
    return ids.length + " tokens";
  }
}
