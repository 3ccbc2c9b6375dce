package dev.warmpath.prompt.tokenizer.internal.djl;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import dev.warmpath.prompt.tokenizer.internal.huggingface.ForeignTokenizer;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.file.Path;

/** The native side of a tokenizer; freed when nobody holds it any more. */
public final class NativeEncoder implements ForeignTokenizer.Engine {
  private static final Cleaner CLEANER = Cleaner.create();

  private final HuggingFaceTokenizer tokenizer;

  /**
   * Loads a tokenizer that neither truncates nor pads.
   *
   * @param tokenizerJson the file
   * @throws IOException if it can't be read
   */
  public NativeEncoder(Path tokenizerJson) throws IOException {
    HuggingFaceTokenizer loaded =
        HuggingFaceTokenizer.builder()
            .optTokenizerPath(tokenizerJson)
            .optTruncation(false)
            .optPadding(false)
            .build();
    tokenizer = loaded;
    CLEANER.register(this, loaded::close);
  }

  @Override
  public long[] encode(String text) {
    return tokenizer.encode(text, false, false).getIds();
  }
}
