package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an answer must conform to.
 *
 * @param kind how it is written
 * @param value the schema, expression, grammar or tag; empty for JSON objects and choices
 * @param choices the allowed answers, of {@link Kind#CHOICE} only
 */
record Constraint(Kind kind, String value, List<String> choices) {

  /** How a constraint is written. */
  enum Kind {
    JSON_SCHEMA,
    JSON_OBJECT,
    REGEX,
    GRAMMAR,
    STRUCTURAL_TAG,
    CHOICE
  }

  /** Fields of a body that hold a constraint. */
  static final List<String> FIELDS =
      List.of(
          "response_format",
          "structured_outputs",
          "guided_json",
          "guided_regex",
          "guided_grammar",
          "guided_choice",
          "regex",
          "ebnf",
          "json_schema");

  private static Constraint of(Kind kind, String value) {
    return new Constraint(kind, value, List.of());
  }

  /**
   * Reads the constraint of a body, by OpenAI's, vLLM's and SGLang's fields.
   *
   * @throws InexpressibleException when there are two, or one that is not understood
   */
  static @Nullable Constraint read(BodyFields body) throws InexpressibleException {
    Constraint found = null;
    for (String field : FIELDS) {
      JsonNode value = body.get(field);
      Constraint constraint = value == null ? null : of(field, value);
      if (constraint != null && found != null) {
        throw new InexpressibleException("several constraints on one answer");
      }
      found = constraint == null ? found : constraint;
    }
    return found;
  }

  private static @Nullable Constraint of(String field, JsonNode value)
      throws InexpressibleException {
    return switch (field) {
      case "response_format" -> format(value);
      case "structured_outputs" -> structured(value);
      case "guided_json", "json_schema" -> of(Kind.JSON_SCHEMA, schema(value));
      case "guided_regex", "regex" -> of(Kind.REGEX, text(field, value));
      case "guided_grammar", "ebnf" -> of(Kind.GRAMMAR, text(field, value));
      case "guided_choice" -> choice(field, value);
      default -> throw new IllegalArgumentException(field);
    };
  }

  private static @Nullable Constraint format(JsonNode format) throws InexpressibleException {
    return switch (format.path("type").asText()) {
      case "text" -> null;
      case "json_object" -> of(Kind.JSON_OBJECT, "");
      case "json_schema" -> {
        JsonNode schema = format.path("json_schema").path("schema");
        if (schema.isMissingNode()) {
          throw new InexpressibleException("response_format has no json_schema.schema");
        }
        yield of(Kind.JSON_SCHEMA, schema(schema));
      }
      case "structural_tag" -> of(Kind.STRUCTURAL_TAG, format.toString());
      default ->
          throw new InexpressibleException(
              "response_format is of none of the types text, json_object, json_schema and"
                  + " structural_tag");
    };
  }

  private static Constraint structured(JsonNode outputs) throws InexpressibleException {
    if (outputs.size() != 1) {
      throw new InexpressibleException("structured_outputs must hold exactly one constraint");
    }
    String name = outputs.fieldNames().next();
    JsonNode value = outputs.get(name);
    return switch (name) {
      case "json" -> of(Kind.JSON_SCHEMA, schema(value));
      case "regex" -> of(Kind.REGEX, text(name, value));
      case "grammar" -> of(Kind.GRAMMAR, text(name, value));
      case "structural_tag" -> of(Kind.STRUCTURAL_TAG, schema(value));
      case "json_object" -> of(Kind.JSON_OBJECT, "");
      case "choice" -> choice(name, value);
      default ->
          throw new InexpressibleException("structured_outputs." + name + " is not understood");
    };
  }

  private static Constraint choice(String field, JsonNode value) throws InexpressibleException {
    List<String> choices = new ArrayList<>();
    for (JsonNode each : value) {
      choices.add(text(field, each));
    }
    if (choices.isEmpty()) {
      throw new InexpressibleException(field + " must be a list of texts");
    }
    return new Constraint(Kind.CHOICE, "", List.copyOf(choices));
  }

  /** A schema stands as an object, or as a text that holds one. */
  private static String schema(JsonNode value) {
    return value.isTextual() ? value.asText() : value.toString();
  }

  private static String text(String field, JsonNode value) throws InexpressibleException {
    if (!value.isTextual()) {
      throw new InexpressibleException(field + " must be a text");
    }
    return value.asText();
  }
}
