package dev.warmpath.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.RouterRequest;
import picocli.CommandLine.Command;

/** Routes one completion. */
@Command(
    name = "complete",
    description = "Routes one completion to real workers and streams the answer.")
final class CompleteCommand extends GenerateCommand {
  @Override
  BodyOptions.Built built(ObjectNode body, String prompt) {
    body.put("prompt", prompt);
    return new BodyOptions.Built(RouterRequest.COMPLETIONS, body);
  }

  @Override
  String text(JsonNode choice, boolean event) {
    return choice.path("text").asText("");
  }
}
