package dev.warmpath.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.RouterRequest;
import picocli.CommandLine.Command;

/** Routes one chat message. */
@Command(
    name = "chat",
    description = "Routes one chat message to real workers and streams the answer.")
final class ChatCommand extends GenerateCommand {
  @Override
  BodyOptions.Built built(ObjectNode body, String prompt) {
    body.putArray("messages").addObject().put("role", "user").put("content", prompt);
    return new BodyOptions.Built(RouterRequest.CHAT_COMPLETIONS, body);
  }

  @Override
  String text(JsonNode choice, boolean event) {
    return choice.path(event ? "delta" : "message").path("content").asText("");
  }
}
