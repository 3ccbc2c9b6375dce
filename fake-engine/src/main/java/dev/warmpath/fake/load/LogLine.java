package dev.warmpath.fake.load;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.fake.text.PromptRejectedException;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;

/**
 * One line of a request log.
 *
 * @param atMs when the request came, milliseconds since 1970
 * @param session the conversation's key, empty where the line has none
 * @param prompts token ids of its prompts
 * @param output length of the answer, -1 where nothing says it
 * @param reportedPromptTokens what the engine counted, 0 where nothing says it
 */
record LogLine(
    double atMs, String session, List<int[]> prompts, int output, long reportedPromptTokens) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Numbers below are seconds, others milliseconds: 1973 in milliseconds, 5138 in seconds. */
  private static final double LEAST_MILLIS = 1e11;

  /** Why a line is left out, in words that have nothing of the line. */
  static final class Unusable extends Exception {
    private static final long serialVersionUID = 1L;

    Unusable(String reason) {
      super(reason, null, false, false);
    }

    String reason() {
      return String.valueOf(getMessage());
    }
  }

  static LogLine parse(String line, PromptEncoder encoder) throws Unusable {
    JsonNode node;
    try {
      node = JSON.readTree(line);
    } catch (JsonProcessingException e) {
      throw new Unusable("not JSON");
    }
    if (!node.isObject()) {
      throw new Unusable("not a JSON object");
    }
    JsonNode body = node;
    for (String field : List.of("body", "request")) {
      if (node.path(field).isObject()) {
        body = node.path(field);
        break;
      }
    }
    JsonNode usage =
        node.path("usage").isObject() ? node.path("usage") : node.at("/response/usage");
    int output = usage.path("completion_tokens").asInt(-1);
    for (String limit : List.of("max_completion_tokens", "max_tokens")) {
      if (output < 0) {
        output = body.path(limit).asInt(-1);
      }
    }
    return new LogLine(
        timestamp(node),
        node.path("session_id").asText(""),
        prompts((ObjectNode) body, encoder),
        output,
        Math.max(0, usage.path("prompt_tokens").asLong()));
  }

  private static double timestamp(JsonNode node) throws Unusable {
    JsonNode at = node.has("timestamp") ? node.path("timestamp") : node.path("time");
    if (at.isNumber() && Double.isFinite(at.asDouble())) {
      return at.asDouble() < LEAST_MILLIS ? at.asDouble() * 1e3 : at.asDouble();
    }
    try {
      if (at.isTextual()) {
        return OffsetDateTime.parse(at.asText()).toInstant().toEpochMilli();
      }
    } catch (DateTimeException e) {
      throw new Unusable("a timestamp that is neither a number nor ISO 8601 with an offset");
    }
    throw new Unusable("no timestamp");
  }

  private static List<int[]> prompts(ObjectNode body, PromptEncoder encoder) throws Unusable {
    List<int[]> prompts = new ArrayList<>();
    try {
      JsonNode prompt = body.path("prompt");
      if (body.path("messages").isArray() && !body.path("messages").isEmpty()) {
        prompts.add(encoder.encodeChat(body));
      } else if (prompt.isTextual()) {
        prompts.add(encoder.encode(prompt.asText(), true));
      } else if (prompt.isArray() && prompt.path(0).isIntegralNumber()) {
        prompts.add(ids(prompt));
      } else {
        for (JsonNode one : prompt) {
          prompts.add(one.isArray() ? ids(one) : encoder.encode(one.asText(), true));
        }
      }
    } catch (PromptRejectedException | RuntimeException e) {
      throw new Unusable("a prompt that the model's template or tokenizer refuses");
    }
    prompts.removeIf(tokens -> tokens.length == 0);
    if (prompts.isEmpty()) {
      throw new Unusable("neither messages nor a prompt");
    }
    return prompts;
  }

  private static int[] ids(JsonNode array) {
    int[] ids = new int[array.size()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = array.get(i).asInt();
    }
    return ids;
  }

  /** Sizes only. */
  @Override
  public String toString() {
    return "LogLine[" + prompts.size() + " prompts]";
  }
}
