package dev.warmpath.fake.load;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The chat of one session: builds each turn's body and takes in the answers. One thread at a time.
 */
final class ChatBody {
  private static final JsonFactory JSON = new JsonFactory();
  private static final ObjectMapper TREE = new ObjectMapper();

  private final String system;

  /** User and assistant messages by turns. */
  private final List<String> said = new ArrayList<>();

  ChatBody(Session session) {
    this.system = session.system();
  }

  byte[] next(Turn turn, LoadSettings settings) {
    said.add(turn.message());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      json.writeStringField("model", settings.model());
      json.writeArrayFieldStart("messages");
      if (!system.isEmpty()) {
        message(json, "system", system);
      }
      for (int i = 0; i < said.size(); i++) {
        message(json, i % 2 == 0 ? "user" : "assistant", said.get(i));
      }
      json.writeEndArray();
      json.writeNumberField(
          "max_tokens", Math.min(turn.outputTokens(), settings.maxOutputTokens()));
      json.writeBooleanField("ignore_eos", true);
      if (settings.stream()) {
        json.writeBooleanField("stream", true);
        json.writeObjectFieldStart("stream_options");
        json.writeBooleanField("include_usage", true);
        json.writeEndObject();
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  private static void message(JsonGenerator json, String role, String content) throws IOException {
    json.writeStartObject();
    json.writeStringField("role", role);
    json.writeStringField("content", content);
    json.writeEndObject();
  }

  /** The assistant's answer becomes part of the history. */
  void answered(String text) {
    said.add(text);
  }

  /**
   * The answer's text in a whole response, or in one event of a stream; empty where there is none.
   */
  static String text(String json, String part) {
    try {
      JsonNode content = TREE.readTree(json).path("choices").path(0).path(part).path("content");
      return content.isTextual() ? content.asText() : "";
    } catch (IOException e) {
      return "";
    }
  }
}
