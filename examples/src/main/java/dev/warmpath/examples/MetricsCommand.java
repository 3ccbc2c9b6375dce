package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.observe.PrometheusText;
import picocli.CommandLine.Command;

/** Looks at the workers once and prints what a client would export, as Prometheus text. */
@Command(
    name = "metrics",
    description = "Looks at the named workers once and prints Prometheus text.")
final class MetricsCommand extends ViewCommand {

  @Override
  String text(RouterClient client) {
    return PrometheusText.of(client.metrics());
  }

  @Override
  ObjectNode document(RouterClient client) {
    return Json.object().put("text", text(client));
  }
}
