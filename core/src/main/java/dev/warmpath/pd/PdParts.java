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
 * sequence only: a body for each prompt and sample, in the order in which answers number them. A
 * seed that the request names grows by one from sample to sample, as vLLM has it: with the very
 * same seed all samples of a prompt would be one text.
 */
final class PdParts {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SAMPLING = "sampling_params";
  private static final String SEED = "seed";

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
        parts.add(part(whole, null, field, own, i));
      }
      return parts;
    }
    for (byte[] prompt : prompts) {
      for (int i = 0; i < samples; i++) {
        parts.add(part(whole, prompt, field, own, i));
      }
    }
    return parts;
  }

  private static Original part(
      Original whole, byte @Nullable [] prompt, String field, boolean own, int sample) {
    JsonFields body = whole.body();
    JsonFields.Added added = new JsonFields.Added();
    byte[] given = prompt == null ? body.raw(field) : prompt;
    if (given != null) {
      added.raw(field, given);
    }
    Set<String> without;
    if (own) {
      without = Set.of(SAMPLING, field);
      byte[] sampling = body.raw(SAMPLING);
      JsonFields fields = sampling == null ? null : JsonFields.find(sampling);
      if (fields != null) {
        added.raw(SAMPLING, one(fields, "sampling_seed", sample));
      } else if (sampling != null) {
        added.raw(SAMPLING, sampling); // the engine says what is wrong with it
      }
    } else {
      without = Set.of("n", SEED, field);
      seed(body, SEED, sample, added);
    }
    return new Original(
        whole.path(),
        whole.headers(),
        Objects.requireNonNull(JsonFields.find(body.edit(without, added))),
        whole.stream());
  }

  /** Sampling parameters of one sample among several. */
  private static byte[] one(JsonFields sampling, String seed, int sample) {
    JsonFields.Added added = new JsonFields.Added();
    seed(sampling, seed, sample, added);
    return sampling.edit(Set.of("n", seed), added);
  }

  private static void seed(JsonFields from, String name, int sample, JsonFields.Added added) {
    String given = from.text(name);
    if (given == null) {
      return;
    }
    try {
      added.number(name, Long.parseLong(given.strip()) + sample);
    } catch (NumberFormatException e) {
      added.raw(name, given); // the engine says what is wrong with it
    }
  }

  private static int nested(JsonFields body) {
    byte[] sampling = body.raw(SAMPLING);
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
