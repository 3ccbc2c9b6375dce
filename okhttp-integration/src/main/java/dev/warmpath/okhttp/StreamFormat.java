package dev.warmpath.okhttp;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.warmpath.api.StreamEvent;
import java.io.IOException;
import okhttp3.MediaType;
import org.jspecify.annotations.Nullable;

/**
 * What engines put into their streams beside content: the end marker, and errors inside a stream
 * that began with 200. SGLang and vLLM send {@code {"error": {...}}} or a flat {@code {"object":
 * "error", ...}}; {@code error} may also be a plain string. The responses API ends with a typed
 * event instead of {@code [DONE]}.
 */
final class StreamFormat {
  private static final JsonFactory JSON = new JsonFactory();

  private StreamFormat() {}

  /** Whether a body is a stream of server-sent events. */
  static boolean events(@Nullable MediaType type) {
    return type != null && type.type().equals("text") && type.subtype().equals("event-stream");
  }

  /** Whether streams of this path end with {@code [DONE]}: OpenAI's, and SGLang's own. */
  static boolean endsDone(String path) {
    String plain = withoutQuery(path);
    return plain.endsWith("/completions") || plain.endsWith("/generate");
  }

  /**
   * Whether streams of this path end with {@code [DONE]} or a typed last event. Of others nothing
   * is known: they end where they end.
   */
  static boolean endsMarked(String path) {
    String plain = withoutQuery(path);
    return endsDone(plain) || plain.endsWith("/responses") || plain.endsWith("/messages");
  }

  private static String withoutQuery(String path) {
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  static boolean done(StreamEvent event) {
    return event.data().equals("[DONE]");
  }

  /**
   * Whether a stream that ends after this event, without {@code [DONE]}, ended as its protocol
   * says.
   */
  static boolean last(StreamEvent event) {
    String name = event.event();
    return name != null
        && switch (name) {
          case "response.completed", "response.incomplete", "message_stop" -> true;
          default -> false;
        };
  }

  /** An error object's status: 0 when it carries none, null when the event is no error. */
  static @Nullable Integer error(StreamEvent event) {
    String name = event.event();
    boolean named = "error".equals(name) || "response.failed".equals(name);
    if (!named && !event.data().contains("\"error\"")) {
      return null;
    }
    try (JsonParser parser = JSON.createParser(event.data())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return named ? 0 : null;
      }
      boolean error = named;
      int code = 0;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        JsonToken value = parser.nextToken();
        if (field.equals("error")) {
          // OpenAI's own chunks may carry "error": null
          error |= value != JsonToken.VALUE_NULL && value != JsonToken.VALUE_FALSE;
          if (value == JsonToken.START_OBJECT) {
            code = Math.max(code, codeWithin(parser));
          }
        } else if (field.equals("object") && "error".equals(parser.getText())) {
          error = true;
        } else if (field.equals("code") || field.equals("status_code")) {
          code = Math.max(code, status(parser, value));
        } else {
          parser.skipChildren();
        }
      }
      return error ? code : null;
    } catch (IOException e) {
      return named ? 0 : null;
    }
  }

  private static int codeWithin(JsonParser parser) throws IOException {
    int code = 0;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String field = parser.currentName();
      JsonToken value = parser.nextToken();
      if (field.equals("code") || field.equals("status_code")) {
        code = Math.max(code, status(parser, value));
      } else {
        parser.skipChildren();
      }
    }
    return code;
  }

  private static int status(JsonParser parser, JsonToken value) throws IOException {
    int code = 0;
    if (value == JsonToken.VALUE_NUMBER_INT) {
      code = parser.getValueAsInt();
    } else if (value == JsonToken.VALUE_STRING) {
      code = parser.getValueAsInt(0);
    } else {
      parser.skipChildren();
    }
    return code >= 400 && code < 600 ? code : 0;
  }
}
