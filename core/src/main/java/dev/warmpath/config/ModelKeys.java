package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.PATH;
import static dev.warmpath.config.ConfigTypes.SWITCH;

import java.nio.file.Path;

/** The keys of a model. */
final class ModelKeys {
  private static final ConfigTable TABLE = new ConfigTable();
  private static final ConfigKey<Path> DIRECTORY =
      TABLE.live(
          "directory",
          PATH,
          null,
          "Holds `tokenizer.json`, `tokenizer_config.json` and the chat template.");
  private static final ConfigKey<Boolean> CHAT_ML =
      TABLE.live(
          "chat_ml",
          SWITCH,
          false,
          "Renders chats as ChatML where the model has no template: for engines that do so.");

  static final ConfigType<ModelSource> MODEL =
      ConfigTypes.object(
          "model",
          TABLE,
          line -> new ModelSource(Path.of(line), false),
          (values, place) -> new ModelSource(values.get(DIRECTORY), values.get(CHAT_ML)),
          ModelSource::toString);

  private ModelKeys() {}
}
