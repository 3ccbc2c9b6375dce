package dev.warmpath.config;

import dev.warmpath.prompt.ModelFiles;
import java.nio.file.Path;

/**
 * Where a model's files are.
 *
 * @param directory holds {@code tokenizer.json} and mostly the other files
 * @param chatMl whether chats are rendered as ChatML where the model has no template
 */
public record ModelSource(Path directory, boolean chatMl) {
  /** Refuses a directory without a name. */
  public ModelSource {
    if (directory.toString().isBlank()) {
      throw new IllegalArgumentException("name the directory of the model's files");
    }
  }

  /**
   * Reads them. Takes a second or so for a large vocabulary.
   *
   * @throws RuntimeException those of {@link ModelFiles#of(Path)}
   */
  public ModelFiles read() {
    ModelFiles files = ModelFiles.of(directory);
    return chatMl ? files.orChatMl() : files;
  }
}
