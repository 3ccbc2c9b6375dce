package dev.warmpath.prompt.tokenizer.internal.huggingface;

import com.fasterxml.jackson.core.JacksonException;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.TokenizerLoadException;
import dev.warmpath.prompt.tokenizer.internal.unicode.OnigurumaRegex;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads tokenizers from the files that Hugging Face models come with. */
public final class HuggingFaceFiles {
  private HuggingFaceFiles() {}

  /**
   * Reads a tokenizer.
   *
   * @param tokenizerJson the {@code tokenizer.json}
   * @param configJson the {@code tokenizer_config.json}, or null to go without
   * @throws TokenizerLoadException if a file can't be read or asks for what can't be done exactly
   */
  public static Tokenizer load(Path tokenizerJson, @Nullable Path configJson) {
    try {
      TokenizerConfig config = TokenizerConfig.NONE;
      if (configJson != null) {
        try (InputStream in = Files.newInputStream(configJson)) {
          config = new TokenizerConfig(TokenizerJson.readTree(in));
        }
      }
      TokenizerJson json;
      try (InputStream in = Files.newInputStream(tokenizerJson)) {
        json = TokenizerJson.read(in);
      }
      String type = json.modelType();
      if (!type.equals("BPE")) {
        throw new IllegalArgumentException("the model " + type);
      }
      return new TokenizerReader(json, config).read();
    } catch (NoSuchFileException e) {
      throw new TokenizerLoadException("There is no file " + e.getFile(), e);
    } catch (JacksonException e) {
      throw new TokenizerLoadException(
          "Broken JSON in or beside " + tokenizerJson + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new TokenizerLoadException("Can't read " + tokenizerJson + ": " + e, e);
    } catch (IllegalArgumentException | OnigurumaRegex.UnsupportedRegexException e) {
      throw new TokenizerLoadException("Can't load " + tokenizerJson + ": " + e.getMessage(), e);
    }
  }
}
