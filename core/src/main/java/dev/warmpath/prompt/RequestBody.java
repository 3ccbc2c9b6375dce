package dev.warmpath.prompt;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouterRequest;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a request's body says, as plain values: those of its fields that bear on the prompt. Parsed
 * once; the texts are the parser's own strings.
 */
final class RequestBody {
  private static final Set<String> FIELDS =
      Set.of(
          "model",
          "stream",
          "cache_salt",
          "extra_key",
          "lora_path",
          "rid",
          "n",
          "tools",
          "functions",
          "tool_choice",
          "messages",
          "instructions",
          "prompt",
          "input",
          "chat_template",
          "chat_template_kwargs",
          "add_generation_prompt",
          "continue_final_message",
          "documents",
          "reasoning_effort",
          "add_special_tokens",
          "truncate_prompt_tokens",
          "prompt_embeds",
          "input_ids",
          "suffix");

  private final String path;
  private final Map<String, @Nullable Object> fields;

  private RequestBody(String path, Map<String, @Nullable Object> fields) {
    this.path = path;
    this.fields = fields;
  }

  /** The path without its query. */
  static String plainPath(RouterRequest request) {
    String path = request.path();
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  /**
   * Parses a body.
   *
   * @throws InvalidRequestException when it is no JSON object; says where
   */
  static RequestBody parse(RouterRequest request) {
    Map<String, @Nullable Object> fields = new HashMap<>();
    try (JsonParser parser = JsonValues.FACTORY.createParser(request.body())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new InvalidRequestException(
            "the body of " + request.path() + " is not a JSON object", null);
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (FIELDS.contains(name)) {
          fields.put(name, JsonValues.read(parser));
        } else {
          parser.skipChildren();
        }
      }
      if (parser.nextToken() != null) {
        throw new InvalidRequestException(
            "the body of " + request.path() + " goes on after its JSON object", null);
      }
    } catch (JacksonException e) {
      JsonLocation at = e.getLocation();
      throw new InvalidRequestException(
          "the body of "
              + request.path()
              + " is not valid JSON"
              + (at == null
                  ? ""
                  : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")"),
          null);
    } catch (IOException e) {
      throw new InvalidRequestException("the body of " + request.path() + " can't be read", null);
    }
    return new RequestBody(plainPath(request), fields);
  }

  /** Whether it is a chat. */
  boolean isChat() {
    return path.equals(RouterRequest.CHAT_COMPLETIONS);
  }

  /** Whether it is a plain completion. */
  boolean isCompletion() {
    return path.equals(RouterRequest.COMPLETIONS);
  }

  /** A field's value; null where it is absent or null. */
  @Nullable Object get(String name) {
    return fields.get(name);
  }

  /** Whether the body has the field, null or not. */
  boolean has(String name) {
    return fields.containsKey(name);
  }

  /** A field that is a text, else null. */
  @Nullable String text(String name) {
    return fields.get(name) instanceof String text ? text : null;
  }

  /**
   * A field that separates prompts: a text as it is. SGLang takes lists too; whatever else it is
   * becomes a text that no text field equals, so that it separates all the same.
   */
  @Nullable String key(String name) {
    Object value = fields.get(name);
    return value == null || value instanceof String ? (String) value : '\0' + value.toString();
  }

  /** Whether a field has a value that is no text. */
  boolean otherThanText(String name) {
    return fields.get(name) != null && !(fields.get(name) instanceof String);
  }

  /** Whether a field is true. */
  boolean flag(String name) {
    return Boolean.TRUE.equals(fields.get(name));
  }

  @Nullable String model() {
    return text("model");
  }

  boolean stream() {
    return flag("stream");
  }

  @Nullable String requestId() {
    return text("rid");
  }

  /** Whether it asks for several generations, or can't be known not to. */
  boolean batch() {
    return (has("n") && !Integer.valueOf(1).equals(fields.get("n")))
        || (has("rid") && requestId() == null)
        || several(fields.get("prompt"))
        || several(fields.get("input"));
  }

  /** Whether a prompt is a list of prompts, rather than a text or a list of token ids. */
  private static boolean several(@Nullable Object prompt) {
    if (prompt instanceof List<?> list) {
      for (Object each : list) {
        if (!(each instanceof Number) && !(each instanceof Map)) {
          return true;
        }
      }
    }
    return false;
  }

  @Override
  public String toString() {
    return path + " with " + fields.keySet();
  }
}
