package dev.warmpath.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.warmpath.api.Usage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Finds the token counts in a response: {@code usage} of chat completions, completions and
 * embeddings, of the responses API ({@code input_tokens} and so on, also inside {@code response}),
 * and {@code meta_info} of SGLang's native {@code /generate}. Lenient: what can't be read reports
 * nothing. Thread safe.
 */
public final class UsageReader {
  private final JsonFactory json = new JsonFactory();

  /** The counts in a whole JSON response, or null. */
  public @Nullable Usage read(byte[] body) {
    if (body.length == 0 || body[0] != '{') {
      return null;
    }
    try (JsonParser parser = json.createParser(body)) {
      return parser.nextToken() == JsonToken.START_OBJECT ? top(parser) : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** The counts in one event of a stream, or null. Cheap where there are none. */
  public @Nullable Usage readEvent(String data) {
    return data.contains("\"usage\"") || data.contains("\"meta_info\"")
        ? read(data.getBytes(StandardCharsets.UTF_8))
        : null;
  }

  private static @Nullable Usage top(JsonParser parser) throws IOException {
    Usage found = null;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (value == JsonToken.START_OBJECT) {
        switch (name) {
          case "usage", "meta_info" -> found = counts(parser);
          case "response" -> {
            Usage inner = top(parser);
            found = inner == null ? found : inner;
          }
          default -> parser.skipChildren();
        }
      } else {
        parser.skipChildren();
      }
    }
    return found;
  }

  private static Usage counts(JsonParser parser) throws IOException {
    Integer prompt = null;
    Integer cached = null;
    Integer completion = null;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      switch (name) {
        case "prompt_tokens", "input_tokens" -> prompt = number(parser, value);
        case "completion_tokens", "output_tokens" -> completion = number(parser, value);
        case "cached_tokens" -> cached = number(parser, value);
        case "prompt_tokens_details", "input_tokens_details" -> {
          if (value == JsonToken.START_OBJECT) {
            Integer inner = counts(parser).cachedTokens();
            cached = inner == null ? cached : inner;
          }
        }
        default -> parser.skipChildren();
      }
    }
    return new Usage(prompt, cached, completion);
  }

  private static @Nullable Integer number(JsonParser parser, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_NUMBER_INT) {
      return parser.getIntValue();
    }
    parser.skipChildren();
    return null;
  }
}
