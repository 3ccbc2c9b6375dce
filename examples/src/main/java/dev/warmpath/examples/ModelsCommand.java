package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.worker.ServedModel;
import picocli.CommandLine.Command;

/** Shows the union of the models that the workers serve. */
@Command(name = "models", description = "Shows the union of the models that the workers serve.")
final class ModelsCommand extends ViewCommand {
  @Override
  String text(RouterClient client) {
    TextTable table = new TextTable("model", "root", "adapter of", "context");
    for (ServedModel model : client.models()) {
      Integer context = model.maxModelLen();
      table.row(
          model.id(),
          model.root() == null ? "-" : model.root(),
          model.parent() == null ? "-" : model.parent(),
          context == null ? "-" : context.toString());
    }
    return table.toString();
  }

  @Override
  ObjectNode document(RouterClient client) {
    ObjectNode out = Json.object();
    ArrayNode models = out.putArray("models");
    for (ServedModel model : client.models()) {
      ObjectNode one = models.addObject();
      one.put("id", model.id());
      one.put("root", model.root());
      one.put("parent", model.parent());
      one.put("max_model_len", model.maxModelLen());
    }
    return out;
  }
}
