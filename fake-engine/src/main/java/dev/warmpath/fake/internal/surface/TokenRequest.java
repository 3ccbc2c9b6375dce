package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * An inference request whose prompts are tokens already, as gRPC brings it.
 *
 * @param endpoint what is asked for
 * @param body everything but the prompts and the limit, in the fields of the engine's HTTP API
 * @param headers what comes beside it, by lower-case name
 * @param prompts token ids of each prompt
 * @param maxTokens tokens to generate, or -1 for an answer of natural length
 * @param outlivesClient whether it goes on to its end when its client leaves
 */
public record TokenRequest(
    EngineSurface.Endpoint endpoint,
    ObjectNode body,
    Map<String, String> headers,
    List<int[]> prompts,
    int maxTokens,
    boolean outlivesClient) {

  @Override
  public String toString() {
    return "TokenRequest[" + endpoint + ", " + prompts.size() + " prompt(s)]";
  }
}
