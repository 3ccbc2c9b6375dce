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

  /** Opens engines for models that are not carried out here. */
  @FunctionalInterface
  public interface ForeignEngines {
    /**
     * An engine for a file.
     *
     * @param tokenizerJson the file
     * @return the engine
     * @throws IOException if the file can't be read
     * @throws IllegalArgumentException if there is no engine for it
     */
    ForeignTokenizer.Engine open(Path tokenizerJson) throws IOException;
  }

  /**
   * Reads a tokenizer.
   *
   * @param tokenizerJson the {@code tokenizer.json}
   * @param configJson the {@code tokenizer_config.json}, or null to go without
   * @param foreign what carries out models other than byte-pair encoding
   * @throws TokenizerLoadException if a file can't be read or asks for what can't be done exactly
   */
  public static Tokenizer load(
      Path tokenizerJson, @Nullable Path configJson, ForeignEngines foreign) {
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
      TokenizerReader reader = new TokenizerReader(json, config);
      return switch (json.modelType()) {
        case "BPE" -> reader.readBytePair();
        case "WordPiece", "WordLevel", "Unigram" -> reader.readForeign(foreign.open(tokenizerJson));
        default -> throw new IllegalArgumentException("the model " + json.modelType());
      };
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
