package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import picocli.CommandLine.Command;

/** Shows what the registry knows of each worker. */
@Command(
    name = "workers",
    description = "Shows each worker's capabilities, health, load and its age.")
final class WorkersCommand extends ViewCommand {
  @Override
  String text(RouterClient client) {
    return Views.table(client);
  }

  @Override
  ObjectNode document(RouterClient client) {
    ObjectNode out = Json.object();
    out.set("workers", Json.parse(client.status().toJson()).get("workers"));
    return out;
  }
}
