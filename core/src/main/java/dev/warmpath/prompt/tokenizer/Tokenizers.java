package dev.warmpath.prompt.tokenizer;

import dev.warmpath.prompt.tokenizer.internal.djl.NativeEncoder;
import dev.warmpath.prompt.tokenizer.internal.huggingface.ForeignTokenizer;
import dev.warmpath.prompt.tokenizer.internal.huggingface.HuggingFaceFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Loads tokenizers. */
public final class Tokenizers {
  private Tokenizers() {}

  /**
   * Loads the tokenizer of a model.
   *
   * <p>Byte-pair encoding, which nearly all generative models use, is carried out here, in Java.
   * WordPiece, WordLevel and Unigram need {@code ai.djl.huggingface:tokenizers} on the class path,
   * which brings native code.
   *
   * @param path a model's directory with {@code tokenizer.json} and, mostly, {@code
   *     tokenizer_config.json}, which is followed too; or a {@code tokenizer.json}, which then
   *     stands alone
   * @return the tokenizer
   * @throws TokenizerLoadException if it can't be read, or not be followed exactly
   */
  public static Tokenizer load(Path path) {
    if (!Files.isDirectory(path)) {
      return HuggingFaceFiles.load(path, null, Tokenizers::openNative);
    }
    Path config = path.resolve("tokenizer_config.json");
    return HuggingFaceFiles.load(
        path.resolve("tokenizer.json"),
        Files.isRegularFile(config) ? config : null,
        Tokenizers::openNative);
  }

  private static ForeignTokenizer.Engine openNative(Path tokenizerJson) throws IOException {
    try {
      return new NativeEncoder(tokenizerJson);
    } catch (LinkageError e) {
      throw new TokenizerLoadException(
          tokenizerJson
              + " holds a model that needs ai.djl.huggingface:tokenizers on the class path, and a"
              + " platform that it has native code for",
          e);
    }
  }
}
