package dev.warmpath.config;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** From a file's text to its tree, with what {@code ${...}} stands for put in. */
final class ConfigText {
  /** Two dollars and a brace stand for one dollar and a brace. */
  private static final Pattern REFERENCE = Pattern.compile("\\$\\$\\{|\\$\\{([^}]*)}");

  private static final int MAX_SECRET_BYTES = 64 << 10;

  private static final ObjectMapper JSON = strict(new JsonFactory());

  private final UnaryOperator<@Nullable String> environment;

  /**
   * @param environment the value of an environment variable, or null
   */
  ConfigText(UnaryOperator<@Nullable String> environment) {
    this.environment = environment;
  }

  private static ObjectMapper strict(JsonFactory factory) {
    return new ObjectMapper(factory)
        .configure(StreamReadFeature.STRICT_DUPLICATE_DETECTION.mappedFeature(), true)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  }

  /** Made when the first YAML file is read: the library need not be there for JSON. */
  private static final class Yaml {
    static final ObjectMapper MAPPER =
        strict(new com.fasterxml.jackson.dataformat.yaml.YAMLFactory());
  }

  /**
   * Reads a text: JSON where it begins with a brace, else YAML.
   *
   * @throws ConfigException when it is neither, or refers to what is not there
   */
  JsonNode tree(String text, Place place) {
    boolean json = text.stripLeading().startsWith("{");
    JsonNode raw;
    try {
      raw = json ? JSON.readTree(text) : Yaml.MAPPER.readTree(text);
    } catch (JsonProcessingException e) {
      // The library's own message may quote the text, and with it a secret.
      String where =
          e.getLocation() == null
              ? ""
              : " at line "
                  + e.getLocation().getLineNr()
                  + ", column "
                  + e.getLocation().getColumnNr();
      String twice = duplicate(e);
      throw place.error(
          "is not valid " + (json ? "JSON" : "YAML") + where + (twice == null ? "" : ": " + twice));
    } catch (NoClassDefFoundError e) {
      throw place.error(
          "is YAML, which takes com.fasterxml.jackson.dataformat:jackson-dataformat-yaml on the"
              + " class path: add it, or write the file as JSON",
          e);
    }
    if (raw == null || raw.isMissingNode() || raw.isNull()) {
      return JsonNodeFactory.instance.objectNode();
    }
    return resolve(raw, place);
  }

  private static @Nullable String duplicate(JsonProcessingException e) {
    Matcher name =
        Pattern.compile("Duplicate field '([A-Za-z0-9_.-]*)'")
            .matcher(String.valueOf(e.getOriginalMessage()));
    return name.find() ? "the key " + name.group(1) + " stands there twice" : null;
  }

  private JsonNode resolve(JsonNode node, Place place) {
    if (node.isTextual()) {
      return JsonNodeFactory.instance.textNode(resolve(node.textValue(), place));
    }
    if (node.isArray()) {
      ArrayNode list = JsonNodeFactory.instance.arrayNode();
      for (int i = 0; i < node.size(); i++) {
        list.add(resolve(node.get(i), place.at(i)));
      }
      return list;
    }
    if (node.isObject()) {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      for (Map.Entry<String, JsonNode> field : node.properties()) {
        object.set(field.getKey(), resolve(field.getValue(), place.in(field.getKey())));
      }
      return object;
    }
    return node;
  }

  private String resolve(String text, Place place) {
    if (text.indexOf("${") < 0) {
      return text;
    }
    Matcher reference = REFERENCE.matcher(text);
    StringBuilder out = new StringBuilder();
    while (reference.find()) {
      String name = reference.group(1);
      String value =
          name == null
              ? "${"
              : name.startsWith("file:") ? file(name.substring(5), place) : variable(name, place);
      reference.appendReplacement(out, Matcher.quoteReplacement(value));
    }
    reference.appendTail(out);
    return out.toString();
  }

  private String variable(String name, Place place) {
    String value = environment.apply(name);
    if (value == null) {
      throw place.error(
          "refers to the environment variable " + name + ", which is not set: set it");
    }
    return value;
  }

  private static String file(String path, Place place) {
    try {
      Path file = Path.of(path);
      if (Files.size(file) > MAX_SECRET_BYTES) {
        throw place.error("refers to the file " + path + ", which is too large for a secret");
      }
      return Files.readString(file).strip();
    } catch (IOException | InvalidPathException e) {
      throw place.error(
          "refers to the file " + path + ", which can't be read: make it readable", e);
    }
  }
}
