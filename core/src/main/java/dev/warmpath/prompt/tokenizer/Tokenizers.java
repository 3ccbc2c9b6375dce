package dev.warmpath.prompt.tokenizer;

import dev.warmpath.prompt.tokenizer.internal.huggingface.HuggingFaceFiles;
import java.nio.file.Files;
import java.nio.file.Path;

/** Loads tokenizers. */
public final class Tokenizers {
  private Tokenizers() {}

  /**
   * Loads the tokenizer of a model.
   *
   * @param path a model's directory with {@code tokenizer.json} and, mostly, {@code
   *     tokenizer_config.json}, which is followed too; or a {@code tokenizer.json}, which then
   *     stands alone
   * @return the tokenizer
   * @throws TokenizerLoadException if it can't be read, or not be followed exactly
   */
  public static Tokenizer load(Path path) {
    if (!Files.isDirectory(path)) {
      return HuggingFaceFiles.load(path, null);
    }
    Path config = path.resolve("tokenizer_config.json");
    return HuggingFaceFiles.load(
        path.resolve("tokenizer.json"), Files.isRegularFile(config) ? config : null);
  }
}
