package dev.warmpath.examples;

import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/** A model with the small tokenizer of core's tests and a ChatML template. */
final class SmallModel {
  private static final String TOKENIZER = "/dev/warmpath/prompt/tokenizer/chatml/tokenizer.json";

  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

  private SmallModel() {}

  /** Lays the model out in a directory, with the template in the tokenizer's configuration. */
  static Path writeTo(Path directory) {
    try (InputStream in =
        Objects.requireNonNull(SmallModel.class.getResourceAsStream(TOKENIZER), TOKENIZER)) {
      Files.createDirectories(directory);
      Files.copy(in, directory.resolve("tokenizer.json"));
      Files.writeString(
          directory.resolve("tokenizer_config.json"),
          Json.object().put("eos_token", "<|im_end|>").put("chat_template", TEMPLATE).toString());
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The model with a tokenizer that stands in for its own. */
  static ModelFiles with(Tokenizer tokenizer) {
    return ModelFiles.of(tokenizer, TEMPLATE, Map.of("eos_token", "<|im_end|>"));
  }
}
