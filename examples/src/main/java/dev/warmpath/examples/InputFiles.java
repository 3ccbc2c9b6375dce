package dev.warmpath.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads the files that commands are given. What is wrong with one is the user's to mend. */
final class InputFiles {
  /** The most digits that Python reads as one integer. */
  private static final int MAX_DIGITS = 4300;

  /**
   * JSON as Python's {@code json} module reads it: integers of any size, {@code NaN} and {@code
   * Infinity}, and of two equal keys the last.
   */
  private static final JsonMapper PYTHON_JSON = pythonJson();

  private InputFiles() {}

  private static JsonMapper pythonJson() {
    JsonMapper mapper =
        JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    mapper
        .getFactory()
        .setStreamReadConstraints(
            StreamReadConstraints.builder()
                .maxNumberLength(MAX_DIGITS)
                .maxStringLength(Integer.MAX_VALUE)
                .build());
    return mapper;
  }

  /**
   * The text of a UTF-8 file.
   *
   * @param what names the file's part in the command, such as {@code template}
   */
  static String text(String what, Path file) throws IOException {
    requireReadable(what, file);
    try {
      return Files.readString(file);
    } catch (CharacterCodingException e) {
      throw CommandFailure.usage(what + " file '" + file + "' is not UTF-8 text");
    }
  }

  /**
   * The value of a JSON file, in the types of {@code java.util} and {@code java.lang}.
   *
   * @param what names the file's part in the command, such as {@code context}
   */
  static @Nullable Object json(String what, Path file) throws IOException {
    requireReadable(what, file);
    try {
      return PYTHON_JSON.readValue(Files.readAllBytes(file), Object.class);
    } catch (JsonProcessingException e) {
      throw CommandFailure.usage(
          what
              + " file '"
              + file
              + "' is not valid JSON"
              + (e.getLocation() == null
                  ? ""
                  : ", see line "
                      + e.getLocation().getLineNr()
                      + ", column "
                      + e.getLocation().getColumnNr()));
    }
  }

  /** The value of a JSON text, in the types that {@link #json} gives. */
  static @Nullable Object parse(String text) throws JsonProcessingException {
    return PYTHON_JSON.readValue(text, Object.class);
  }

  /** Refuses what is no readable file. */
  static void requireReadable(String what, Path file) {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw CommandFailure.usage(what + " file '" + file + "' can't be read");
    }
  }
}
