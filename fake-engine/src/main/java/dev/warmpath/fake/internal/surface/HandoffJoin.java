package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * What a decode worker asks a prefill worker for.
 *
 * @param key the room, transfer or offer
 * @param subject what error messages call it
 * @param promptTokens length of the prompt
 * @param engineId the engine that decode was told to find there, or null if it was told none
 * @param claim the parameters of prefill's answer, or null where both sides meet without
 */
record HandoffJoin(
    String key,
    String subject,
    int promptTokens,
    @Nullable String engineId,
    @Nullable JsonNode claim) {

  ObjectNode json() {
    ObjectNode json =
        Json.object()
            .put("key", key)
            .put("subject", subject)
            .put("prompt_tokens", promptTokens)
            .put("engine_id", engineId);
    json.set("claim", claim);
    return json;
  }

  static HandoffJoin of(JsonNode json) {
    JsonNode claim = json.path("claim");
    return new HandoffJoin(
        json.path("key").asText(),
        json.path("subject").asText(),
        json.path("prompt_tokens").asInt(),
        json.path("engine_id").isTextual() ? json.path("engine_id").asText() : null,
        claim.isObject() ? claim : null);
  }
}
