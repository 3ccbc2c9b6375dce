package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What a model's engine would take for parameters that a request leaves out, as its HTTP server
 * does: the model's generation config where the engine tells it, else OpenAI's and the engines'
 * neutral values.
 *
 * @param maxTokens the most tokens of an answer, or null for what the context leaves
 */
public record SamplingDefaults(
    double temperature,
    double topP,
    int topK,
    double minP,
    double repetitionPenalty,
    @Nullable Integer maxTokens) {

  /** Plain sampling; no top-k. */
  public static final SamplingDefaults NEUTRAL = new SamplingDefaults(1, 1, -1, 0, 1, null);

  /** Reads what {@code GetModelInfo} gives as JSON; neutral where it gives nothing readable. */
  static SamplingDefaults read(String json) {
    if (json.isEmpty()) {
      return NEUTRAL;
    }
    try {
      JsonNode told = BodyFields.JSON.readTree(json);
      JsonNode most = told.has("max_tokens") ? told.get("max_tokens") : told.get("max_new_tokens");
      return new SamplingDefaults(
          told.path("temperature").asDouble(NEUTRAL.temperature),
          told.path("top_p").asDouble(NEUTRAL.topP),
          told.path("top_k").asInt(NEUTRAL.topK),
          told.path("min_p").asDouble(NEUTRAL.minP),
          told.path("repetition_penalty").asDouble(NEUTRAL.repetitionPenalty),
          most == null || most.asInt() < 1 ? null : Integer.valueOf(most.asInt()));
    } catch (IOException e) {
      return NEUTRAL;
    }
  }
}
