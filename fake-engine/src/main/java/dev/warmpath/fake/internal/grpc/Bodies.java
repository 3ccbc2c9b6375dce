package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.TokenRequest;
import io.grpc.Status;
import java.util.List;
import java.util.Map;

/** Requests in the fields of the engines' HTTP APIs, as far as every service has them. */
final class Bodies {
  private Bodies() {}

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** What all generating requests have. */
  static ObjectNode generate(boolean stream, int n, List<String> stops, List<Integer> stopTokens) {
    ObjectNode body = object().put("stream", stream).put("n", n);
    ArrayNode texts = body.putArray("stop");
    stops.forEach(texts::add);
    ArrayNode tokens = body.putArray("stop_token_ids");
    stopTokens.forEach(tokens::add);
    return body;
  }

  static TokenRequest embedding(List<Integer> tokens, ObjectNode body) {
    return new TokenRequest(
        EngineSurface.Endpoint.EMBEDDINGS, body, Map.of(), List.of(ids(tokens)), 0, false);
  }

  static int[] ids(List<Integer> tokens) {
    return tokens.stream().mapToInt(Integer::intValue).toArray();
  }

  static void require(boolean valid, String message) {
    if (!valid) {
      throw invalid(message);
    }
  }

  static RuntimeException invalid(String message) {
    return Status.INVALID_ARGUMENT.withDescription(message).asRuntimeException();
  }
}
