package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;

/** JSON in and out. */
final class Json {
  static final ObjectMapper MAPPER = new ObjectMapper();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static byte[] bytes(JsonNode node) {
    return string(node).getBytes(StandardCharsets.UTF_8);
  }

  /** Reads what is known to be JSON, with numbers as a peer would read them. */
  static JsonNode reread(JsonNode node) {
    try {
      return MAPPER.readTree(string(node));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("what was written is always readable", e);
    }
  }

  static String string(JsonNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree is always writable", e);
    }
  }

  /** A JSON string literal, with its quotes. */
  static String quote(String text) {
    return string(MAPPER.getNodeFactory().textNode(text));
  }

  /** What stands between the quotes of a JSON string literal. */
  static String escape(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        String quoted = quote(text);
        return quoted.substring(1, quoted.length() - 1);
      }
    }
    return text;
  }
}
