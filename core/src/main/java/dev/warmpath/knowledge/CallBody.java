package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The JSON object that a call to the control plane brings, field by field. What is absent or null
 * is unknown; what has the wrong type is refused as FastAPI does, with status 422.
 */
final class CallBody {
  private final ObjectNode fields;

  CallBody(ObjectNode fields) {
    this.fields = fields;
  }

  /** A text that must be there. */
  String text(String key) throws InvalidCallException {
    String value = optionalText(key);
    if (value == null) {
      throw refused(key, "field required");
    }
    if (value.isBlank()) {
      throw refused(key, "must not be blank");
    }
    return value;
  }

  @Nullable String optionalText(String key) throws InvalidCallException {
    JsonNode value = fields.path(key);
    if (absent(value)) {
      return null;
    }
    if (!value.isTextual()) {
      throw refused(key, "str type expected");
    }
    if (value.textValue().length() > KnowledgeRegistry.LONGEST_TEXT) {
      throw refused(key, "at most " + KnowledgeRegistry.LONGEST_TEXT + " characters");
    }
    if (value.textValue().chars().anyMatch(Character::isISOControl)) {
      throw refused(key, "no control characters");
    }
    return value.textValue();
  }

  /** A host name or address; nothing that would lead a URL elsewhere. */
  String host() throws InvalidCallException {
    String host = text("host");
    for (int i = 0; i < host.length(); i++) {
      char c = host.charAt(i);
      if (c > 0x7e || !(Character.isLetterOrDigit(c) || "-._:[]".indexOf(c) >= 0)) {
        throw refused("host", "not a host name or address");
      }
    }
    try {
      var unused = KnowledgeRegistry.baseOf(host, 1);
    } catch (IllegalArgumentException e) {
      throw refused("host", "not a host name or address");
    }
    return host;
  }

  int port() throws InvalidCallException {
    OptionalLong port = whole("port");
    if (port.isEmpty()) {
      throw refused("port", "field required");
    }
    if (port.getAsLong() < 1 || port.getAsLong() > 65_535) {
      throw refused("port", "ensure this value is between 1 and 65535");
    }
    return (int) port.getAsLong();
  }

  OptionalLong whole(String key) throws InvalidCallException {
    OptionalDouble value = number(key);
    if (value.isEmpty()) {
      return OptionalLong.empty();
    }
    double number = value.getAsDouble();
    if (number != Math.rint(number) || Math.abs(number) > 1L << 53) {
      throw refused(key, "value is not a valid integer");
    }
    return OptionalLong.of((long) number);
  }

  OptionalInt count(String key) throws InvalidCallException {
    OptionalLong value = whole(key);
    return value.isEmpty()
        ? OptionalInt.empty()
        : OptionalInt.of((int) Math.max(0, Math.min(Integer.MAX_VALUE, value.getAsLong())));
  }

  OptionalDouble number(String key) throws InvalidCallException {
    JsonNode value = fields.path(key);
    if (absent(value)) {
      return OptionalDouble.empty();
    }
    if (!value.isNumber() || !Double.isFinite(value.doubleValue())) {
      throw refused(key, "value is not a valid number");
    }
    return OptionalDouble.of(value.doubleValue());
  }

  /** A list of texts; the given ones where it is absent. */
  List<String> texts(String key, List<String> absent) throws InvalidCallException {
    JsonNode value = fields.path(key);
    if (absent(value)) {
      return absent;
    }
    if (!value.isArray() || value.size() > KnowledgeRegistry.LONGEST_TEXT) {
      throw refused(key, "value is not a valid list");
    }
    List<String> texts = new ArrayList<>(value.size());
    for (JsonNode element : value) {
      if (!element.isTextual() || element.textValue().length() > KnowledgeRegistry.LONGEST_TEXT) {
        throw refused(key, "str type expected");
      }
      texts.add(element.textValue());
    }
    return texts;
  }

  /** An object; an empty one where it is absent. */
  ObjectNode object(String key) throws InvalidCallException {
    JsonNode value = fields.path(key);
    if (absent(value)) {
      return JsonNodeFactory.instance.objectNode();
    }
    if (!(value instanceof ObjectNode object)) {
      throw refused(key, "value is not a valid dict");
    }
    return object;
  }

  /** Anything, or null where it is absent. */
  @Nullable JsonNode any(String key) {
    JsonNode value = fields.path(key);
    return absent(value) ? null : value;
  }

  private static boolean absent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }

  private static InvalidCallException refused(String key, String message) {
    return new InvalidCallException(422, key, message);
  }
}
