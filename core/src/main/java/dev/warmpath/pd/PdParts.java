package dev.warmpath.pd;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes a request for several generations apart, since engines let each transfer of KV serve one
 * sequence only: a body for each prompt and sample, in the order in which answers number them.
 */
final class PdParts {
  private static final ObjectMapper JSON = new ObjectMapper();

  private PdParts() {}

  /** The parts of a request; null where it is one generation. */
  static @Nullable List<Original> of(Original whole) {
    JsonFields body = whole.body();
    boolean own = whole.path().equals(Original.GENERATE);
    String field = own ? (body.has("text") ? "text" : "input_ids") : "prompt";
    List<byte[]> prompts = prompts(body.raw(field));
    int samples = own ? nested(body) : count(body.text("n"));
    if (prompts == null && samples <= 1) {
      return null;
    }
    List<Original> parts = new ArrayList<>();
    if (prompts == null) {
      for (int i = 0; i < samples; i++) {
        parts.add(part(whole, null, field, own));
      }
      return parts;
    }
    for (byte[] prompt : prompts) {
      for (int i = 0; i < samples; i++) {
        parts.add(part(whole, prompt, field, own));
      }
    }
    return parts;
  }

  private static Original part(
      Original whole, byte @Nullable [] prompt, String field, boolean own) {
    JsonFields body = whole.body();
    JsonFields.Added added = new JsonFields.Added();
    Set<String> without = own ? Set.of("sampling_params", field) : Set.of("n", field);
    byte[] given = prompt == null ? body.raw(field) : prompt;
    if (given != null) {
      added.raw(field, given);
    }
    byte[] sampling = own ? body.raw("sampling_params") : null;
    if (sampling != null) {
      JsonFields fields = JsonFields.find(sampling);
      added.raw(
          "sampling_params",
          fields == null ? sampling : fields.edit(Set.of("n"), new JsonFields.Added()));
    }
    return new Original(
        whole.path(),
        whole.headers(),
        Objects.requireNonNull(JsonFields.find(body.edit(without, added))),
        whole.stream());
  }

  private static int nested(JsonFields body) {
    byte[] sampling = body.raw("sampling_params");
    JsonFields fields = sampling == null ? null : JsonFields.find(sampling);
    return fields == null ? 1 : count(fields.text("n"));
  }

  private static int count(@Nullable String number) {
    if (number == null) {
      return 1;
    }
    try {
      return Math.max(1, Integer.parseInt(number.strip()));
    } catch (NumberFormatException e) {
      return 1; // the engine says what is wrong with it
    }
  }

  /** The prompts of a batch as JSON each; null where it is one text or one list of tokens. */
  private static @Nullable List<byte[]> prompts(byte @Nullable [] value) {
    if (value == null || value[0] != '[') {
      return null;
    }
    try {
      JsonNode list = JSON.readTree(value);
      if (list.isEmpty() || list.get(0).isNumber()) {
        return null;
      }
      List<byte[]> prompts = new ArrayList<>();
      for (JsonNode each : list) {
        prompts.add(JSON.writeValueAsBytes(each));
      }
      return prompts;
    } catch (IOException e) {
      return null;
    }
  }

  /** The parts' whole answers as one, choices numbered and counts added up. */
  static byte[] joined(String path, List<byte[]> answers) {
    try {
      if (path.equals(Original.GENERATE)) {
        ArrayNode all = JSON.createArrayNode();
        for (byte[] answer : answers) {
          all.add(JSON.readTree(answer));
        }
        return JSON.writeValueAsBytes(all);
      }
      ObjectNode first = null;
      ArrayNode choices = JSON.createArrayNode();
      ObjectNode usage = JSON.createObjectNode();
      for (int i = 0; i < answers.size(); i++) {
        JsonNode answer = JSON.readTree(answers.get(i));
        if (!(answer instanceof ObjectNode object)) {
          continue;
        }
        first = first == null ? object : first;
        number(object, i, choices);
        add(usage, object.get("usage"));
      }
      if (first == null) {
        return answers.get(0);
      }
      first.set("choices", choices);
      if (!usage.isEmpty()) {
        first.set("usage", usage);
      }
      return JSON.writeValueAsBytes(first);
    } catch (IOException e) {
      return answers.get(0);
    }
  }

  private static void number(ObjectNode answer, int index, ArrayNode into) {
    for (JsonNode choice : answer.path("choices")) {
      if (choice instanceof ObjectNode object) {
        object.put("index", index);
        into.add(object);
      }
    }
  }

  private static void add(ObjectNode sums, @Nullable JsonNode usage) {
    if (usage == null) {
      return;
    }
    for (String name : List.of("prompt_tokens", "completion_tokens", "total_tokens")) {
      if (usage.path(name).isInt()) {
        sums.put(name, sums.path(name).asInt(0) + usage.get(name).asInt());
      }
    }
  }

  /**
   * An event of a part's stream as one of the whole: its choices numbered.
   *
   * @param id the id that all events carry, or null to leave it
   */
  static String numbered(String event, int index, @Nullable String id) {
    try {
      JsonNode tree = JSON.readTree(event);
      if (!(tree instanceof ObjectNode object)) {
        return event;
      }
      if (object.has("choices")) {
        for (JsonNode choice : object.path("choices")) {
          if (choice instanceof ObjectNode each) {
            each.put("index", index);
          }
        }
        if (id != null && object.has("id")) {
          object.put("id", id);
        }
      } else {
        object.put("index", index);
      }
      return JSON.writeValueAsString(object);
    } catch (JsonProcessingException e) {
      return event;
    }
  }

  /** The id that an event carries, or null. */
  static @Nullable String id(String event) {
    try {
      JsonNode id = JSON.readTree(event).get("id");
      return id != null && id.isTextual() ? id.asText() : null;
    } catch (JsonProcessingException e) {
      return null;
    }
  }
}
