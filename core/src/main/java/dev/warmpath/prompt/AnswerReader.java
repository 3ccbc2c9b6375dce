package dev.warmpath.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the text that an engine generated out of a chat's or completion's response, whole or event
 * by event: what the worker's cache holds after the prompt. Only a single choice of plain text
 * tells it; where tool calls or reasoning were parsed out, or the answer grows beyond a bound, the
 * text is not what was generated, or not worth keeping, and there is none.
 *
 * <p>For one response; not for use by several threads. Lenient: what can't be read is no answer.
 */
public final class AnswerReader {
  /** Characters of an answer that are kept; the rest of a longer one is not learned. */
  static final int MAX_LENGTH = 1 << 20;

  private static final JsonFactory JSON = new JsonFactory();

  private final StringBuilder text = new StringBuilder();
  private boolean plain = true;
  private boolean any;

  /** Takes in a whole JSON response. */
  public void body(byte[] body) {
    if (plain && body.length > 0 && body[0] == '{') {
      try (JsonParser parser = JSON.createParser(body)) {
        document(parser);
      } catch (IOException e) {
        plain = false;
      }
    }
  }

  /** Takes in the data of one event of a stream. */
  public void event(String data) {
    if (plain && data.startsWith("{")) {
      try (JsonParser parser = JSON.createParser(data)) {
        document(parser);
      } catch (IOException e) {
        plain = false;
      }
    }
  }

  /** The text that was generated, or null where it is not known. */
  public @Nullable String answer() {
    return plain && any ? text.toString() : null;
  }

  private void document(JsonParser parser) throws IOException {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      return;
    }
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (name.equals("choices") && value == JsonToken.START_ARRAY) {
        choices(parser);
      } else {
        parser.skipChildren();
      }
    }
  }

  private void choices(JsonParser parser) throws IOException {
    int count = 0;
    while (parser.nextToken() == JsonToken.START_OBJECT) {
      plain &= count++ == 0;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (name) {
          case "index" -> plain &= value == JsonToken.VALUE_NUMBER_INT && parser.getIntValue() == 0;
          case "text" -> append(parser, value);
          case "message", "delta" -> {
            if (value == JsonToken.START_OBJECT) {
              message(parser);
            }
          }
          default -> parser.skipChildren();
        }
      }
    }
  }

  private void message(JsonParser parser) throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      switch (name) {
        case "content" -> append(parser, value);
        case "tool_calls", "function_call", "reasoning", "reasoning_content", "refusal" -> {
          plain &= empty(parser, value);
        }
        default -> parser.skipChildren();
      }
    }
  }

  private static boolean empty(JsonParser parser, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_NULL) {
      return true;
    }
    if (value == JsonToken.START_ARRAY) {
      boolean empty = parser.nextToken() == JsonToken.END_ARRAY;
      while (parser.currentToken() != JsonToken.END_ARRAY) {
        parser.skipChildren();
        parser.nextToken();
      }
      return empty;
    }
    boolean empty = value == JsonToken.VALUE_STRING && parser.getTextLength() == 0;
    parser.skipChildren();
    return empty;
  }

  private void append(JsonParser parser, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      any = true;
      text.append(parser.getText());
      if (text.length() > MAX_LENGTH) {
        plain = false;
        text.setLength(0);
      }
    } else {
      parser.skipChildren();
    }
  }
}
