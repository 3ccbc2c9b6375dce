package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request's body that say how to generate. What makes up the prompt is skipped,
 * unread: it travels as tokens. A field that is null counts as absent.
 */
final class BodyFields {
  static final ObjectMapper JSON = new ObjectMapper();

  /** Large, and rendered into the prompt already. */
  private static final Set<String> SKIPPED = Set.of("messages", "tools", "functions", "documents");

  private final Map<String, JsonNode> fields;
  private final Set<String> names;

  private BodyFields(Map<String, JsonNode> fields, Set<String> names) {
    this.fields = fields;
    this.names = names;
  }

  /**
   * Reads a body.
   *
   * @throws InexpressibleException when it is no JSON object
   */
  static BodyFields read(byte[] body) throws InexpressibleException {
    Map<String, JsonNode> fields = new LinkedHashMap<>();
    try (JsonParser parser = JSON.getFactory().createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new InexpressibleException("the body is no JSON object");
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (SKIPPED.contains(name)) {
          parser.skipChildren();
          fields.put(name, JSON.nullNode());
        } else {
          fields.put(name, JSON.readTree(parser));
        }
      }
    } catch (IOException e) {
      throw new InexpressibleException("the body is not valid JSON");
    }
    Set<String> names = new java.util.LinkedHashSet<>();
    fields.forEach(
        (name, value) -> {
          if (!value.isNull()) {
            names.add(name);
          }
        });
    return new BodyFields(fields, names);
  }

  /** The names of the fields that have a value, in their order. */
  Set<String> names() {
    return names;
  }

  @Nullable JsonNode get(String name) {
    JsonNode value = fields.get(name);
    return value == null || value.isNull() ? null : value;
  }

  @Nullable String text(String name) throws InexpressibleException {
    JsonNode value = get(name);
    if (value != null && !value.isTextual()) {
      throw new InexpressibleException(name + " must be a text");
    }
    return value == null ? null : value.asText();
  }

  @Nullable Double number(String name) throws InexpressibleException {
    JsonNode value = get(name);
    if (value != null && !value.isNumber()) {
      throw new InexpressibleException(name + " must be a number");
    }
    return value == null ? null : Double.valueOf(value.asDouble());
  }

  @Nullable Integer integer(String name) throws InexpressibleException {
    JsonNode value = get(name);
    if (value != null && !value.canConvertToExactIntegral()) {
      throw new InexpressibleException(name + " must be a whole number");
    }
    if (value != null && !value.canConvertToInt()) {
      throw new InexpressibleException(name + " is out of range");
    }
    return value == null ? null : Integer.valueOf(value.asInt());
  }

  @Nullable Long longer(String name) throws InexpressibleException {
    JsonNode value = get(name);
    if (value != null && !value.canConvertToLong()) {
      throw new InexpressibleException(name + " must be a whole number");
    }
    return value == null ? null : Long.valueOf(value.asLong());
  }

  boolean flag(String name, boolean otherwise) throws InexpressibleException {
    JsonNode value = get(name);
    if (value != null && !value.isBoolean()) {
      throw new InexpressibleException(name + " must be true or false");
    }
    return value == null ? otherwise : value.asBoolean();
  }

  /** A text, or a list of texts. */
  List<String> texts(String name) throws InexpressibleException {
    JsonNode value = get(name);
    if (value == null) {
      return List.of();
    }
    if (value.isTextual()) {
      return List.of(value.asText());
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode each : list(name, value)) {
      if (!each.isTextual()) {
        throw new InexpressibleException(name + " must be a text or a list of texts");
      }
      texts.add(each.asText());
    }
    return texts;
  }

  /** A list of token ids. */
  List<Integer> ids(String name) throws InexpressibleException {
    JsonNode value = get(name);
    List<Integer> ids = new ArrayList<>();
    if (value != null) {
      for (JsonNode each : list(name, value)) {
        if (!each.canConvertToInt() || !each.isIntegralNumber() || each.asInt() < 0) {
          throw new InexpressibleException(name + " must be a list of token ids");
        }
        ids.add(each.asInt());
      }
    }
    return ids;
  }

  private static JsonNode list(String name, JsonNode value) throws InexpressibleException {
    if (!value.isArray()) {
      throw new InexpressibleException(name + " must be a list");
    }
    return value;
  }
}
