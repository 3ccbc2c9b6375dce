package dev.warmpath.worker;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The format of {@link FileDiscovery}'s files. */
final class WorkerFile {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private WorkerFile() {}

  /**
   * Reads a whole file.
   *
   * @param customizer adds what all workers have in common
   * @throws IOException when the text can't be read as what it seems to be
   * @throws IllegalArgumentException when it says something wrong
   */
  static List<WorkerSpec> parse(byte[] content, UnaryOperator<WorkerSpec.Builder> customizer)
      throws IOException {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
    } catch (CharacterCodingException e) {
      throw new IOException("is not UTF-8 text", e);
    }
    boolean json = text.stripLeading().startsWith("[");
    Map<WorkerId, WorkerSpec> specs = new LinkedHashMap<>();
    for (Entry entry : json ? jsonEntries(text) : lineEntries(text)) {
      WorkerSpec spec;
      try {
        spec = customizer.apply(entry.spec().toBuilder()).build();
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(entry.place() + ": " + e.getMessage(), e);
      }
      if (specs.put(spec.id(), spec) != null) {
        throw new IllegalArgumentException(
            entry.place() + ": worker " + spec.id() + " stands there twice");
      }
    }
    if (specs.isEmpty() && !json) {
      throw new IllegalArgumentException("lists no worker: write [] where that is meant");
    }
    return new ArrayList<>(specs.values());
  }

  private record Entry(String place, WorkerSpec spec) {}

  private static List<Entry> lineEntries(String text) {
    List<Entry> entries = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\\R", -1)) {
      number++;
      String worker = line.strip();
      if (!worker.isEmpty() && !worker.startsWith("#")) {
        entries.add(entry("line " + number, () -> WorkerSpec.parse(worker)));
      }
    }
    return entries;
  }

  private static List<Entry> jsonEntries(String text) throws IOException {
    JsonNode list;
    try {
      list = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IOException(
          "is not valid JSON at line "
              + e.getLocation().getLineNr()
              + ": "
              + e.getOriginalMessage(),
          e);
    }
    List<Entry> entries = new ArrayList<>();
    for (JsonNode item : list) {
      entries.add(
          entry(
              "entry " + (entries.size() + 1),
              () -> item.isTextual() ? WorkerSpec.parse(item.textValue()) : spec(item)));
    }
    return entries;
  }

  private static Entry entry(String place, Supplier<WorkerSpec> spec) {
    try {
      return new Entry(place, spec.get());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(place + ": " + e.getMessage(), e);
    }
  }

  private static WorkerSpec spec(JsonNode item) {
    if (!item.isObject() || !item.path("url").isTextual()) {
      throw new IllegalArgumentException("a worker is a string or an object with a \"url\"");
    }
    WorkerSpec.Builder builder = WorkerSpec.builder(item.get("url").textValue());
    for (Map.Entry<String, JsonNode> field : item.properties()) {
      String key = field.getKey();
      JsonNode value = field.getValue();
      switch (key) {
        case "url" -> {}
        case "role" -> builder.role(WorkerRole.parse(text(key, value)));
        case "engine" -> builder.engine(EngineKind.parse(text(key, value)));
        case "dp" -> builder.dpSize(whole(key, value));
        case "block" -> builder.blockSize(whole(key, value));
        case "kv-tokens" -> builder.kvCapacityTokens(whole(key, value));
        case "models" -> builder.models(texts(key, value));
        case "labels" -> {
          if (!value.isObject()) {
            throw new IllegalArgumentException("'labels' must be an object");
          }
          for (Map.Entry<String, JsonNode> label : value.properties()) {
            builder.label(label.getKey(), text("label " + label.getKey(), label.getValue()));
          }
        }
        case "hash", "hash-seed", "dcp", "eagle", "mm-keys" -> {
          String written = value.isValueNode() ? value.asText() : text(key, value);
          builder.hashing(key, written);
        }
        default ->
            throw new IllegalArgumentException(
                "unknown key '"
                    + key
                    + "': use url, role, engine, dp, block, kv-tokens, models, labels, hash,"
                    + " hash-seed, dcp, eagle, mm-keys");
      }
    }
    return builder.build();
  }

  private static String text(String key, JsonNode value) {
    if (!value.isTextual()) {
      throw new IllegalArgumentException("'" + key + "' must be a string");
    }
    return value.textValue();
  }

  private static int whole(String key, JsonNode value) {
    if (!value.canConvertToInt() || !value.isIntegralNumber()) {
      throw new IllegalArgumentException("'" + key + "' must be a whole number");
    }
    return value.intValue();
  }

  private static List<String> texts(String key, JsonNode value) {
    if (!value.isArray()) {
      throw new IllegalArgumentException("'" + key + "' must be a list of strings");
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode item : value) {
      texts.add(text(key, item));
    }
    return texts;
  }
}
