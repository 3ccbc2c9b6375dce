package dev.warmpath.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.handoff.TransferProtocol;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Requests of every shape that pairs serve, and the texts that their answers hold. */
final class PairTraffic {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String GENERATE = "/generate";

  private PairTraffic() {}

  /** A kind of request. */
  enum Shape {
    CHAT(RouterRequest.CHAT_COMPLETIONS, 1),
    CHAT_SAMPLES(RouterRequest.CHAT_COMPLETIONS, 2),
    COMPLETION(RouterRequest.COMPLETIONS, 1),
    COMPLETION_BATCH(RouterRequest.COMPLETIONS, 4),
    GENERATE_TEXT(GENERATE, 1),
    GENERATE_SAMPLES(GENERATE, 2);

    private final String path;
    private final int answers;

    Shape(String path, int answers) {
      this.path = path;
      this.answers = answers;
    }

    String path() {
      return path;
    }

    /** How many texts come back. */
    int answers() {
      return answers;
    }

    private boolean servedBy(TransferProtocol protocol) {
      return switch (protocol) {
        case SGLANG -> true;
        case P2P_NCCL -> path.equals(RouterRequest.COMPLETIONS);
        case ATOM -> !path.equals(GENERATE) && this != COMPLETION_BATCH;
        default -> !path.equals(GENERATE);
      };
    }

    /** Those that pairs with a connector have. */
    static List<Shape> of(TransferProtocol protocol) {
      return Arrays.stream(values()).filter(shape -> shape.servedBy(protocol)).toList();
    }

    /** A body: the same words and seed give the same answer everywhere. */
    ObjectNode body(String prompt, int tokens, int seed, boolean stream) {
      ObjectNode body = JSON.createObjectNode();
      body.put("model", "m").put("stream", stream);
      switch (this) {
        case CHAT, CHAT_SAMPLES -> {
          body.putArray("messages").addObject().put("role", "user").put("content", prompt);
          body.put("max_tokens", tokens).put("seed", seed);
        }
        case COMPLETION -> body.put("prompt", prompt).put("max_tokens", tokens).put("seed", seed);
        case COMPLETION_BATCH -> {
          body.putArray("prompt").add(prompt).add("and then " + prompt);
          body.put("max_tokens", tokens).put("seed", seed);
        }
        case GENERATE_TEXT, GENERATE_SAMPLES -> {
          body.put("text", prompt);
          body.putObject("sampling_params")
              .put("max_new_tokens", tokens)
              .put("sampling_seed", seed);
        }
      }
      if (this == CHAT_SAMPLES || this == COMPLETION_BATCH) {
        body.put("n", 2);
      } else if (this == GENERATE_SAMPLES) {
        ((ObjectNode) body.path("sampling_params")).put("n", 2);
      }
      return body;
    }
  }

  /** The texts of a whole answer, in order. */
  static List<String> whole(String answer) {
    JsonNode tree = read(answer);
    Map<Integer, String> texts = new TreeMap<>();
    if (tree.isArray()) {
      for (int i = 0; i < tree.size(); i++) {
        texts.put(i, tree.get(i).path("text").asText());
      }
    } else if (tree.has("choices")) {
      for (JsonNode choice : tree.path("choices")) {
        JsonNode message = choice.path("message").path("content");
        texts.put(
            choice.path("index").asInt(),
            message.isTextual() ? message.asText() : choice.path("text").asText());
      }
    } else {
      texts.put(0, tree.path("text").asText());
    }
    return new ArrayList<>(texts.values());
  }

  /** The texts of a stream's events, in order; SGLang's own events repeat what came before. */
  static List<String> streamed(List<String> events) {
    Map<Integer, String> texts = new TreeMap<>();
    for (String event : events) {
      JsonNode tree = read(event);
      if (!tree.has("choices")) {
        texts.put(tree.path("index").asInt(), tree.path("text").asText());
        continue;
      }
      for (JsonNode choice : tree.path("choices")) {
        JsonNode delta = choice.path("delta").path("content");
        texts.merge(
            choice.path("index").asInt(),
            delta.isTextual() ? delta.asText() : choice.path("text").asText(),
            String::concat);
      }
    }
    return new ArrayList<>(texts.values());
  }

  /** The payloads of a stream as it goes over the wire. */
  static List<String> events(String wire) {
    return wire.lines()
        .filter(line -> line.startsWith("data: ") && !line.equals("data: [DONE]"))
        .map(line -> line.substring(6))
        .toList();
  }

  static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (IOException e) {
      throw new AssertionError("not JSON: " + json, e);
    }
  }
}
