package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.RouterClient.ClientStats;
import picocli.CommandLine.Command;

/** Looks at the workers once and shows what a client would know. */
@Command(
    name = "status",
    description = "Looks at the named workers once and shows what a client would know.")
final class StatusCommand extends ViewCommand {
  @Override
  String text(RouterClient client) {
    ClientStats stats = client.stats();
    return "policy   "
        + client.policy().name()
        + System.lineSeparator()
        + "queue    "
        + stats.waiting()
        + " waiting, "
        + stats.inFlight()
        + " in flight, "
        + stats.retriesLeft()
        + " retries left"
        + System.lineSeparator()
        + "index    "
        + stats.index().bytes()
        + " of "
        + stats.index().budgetBytes()
        + " bytes, blocks "
        + stats.blocks().bytes()
        + " of "
        + stats.blocks().budgetBytes()
        + " bytes"
        + System.lineSeparator()
        + Views.table(client);
  }

  @Override
  ObjectNode document(RouterClient client) {
    ClientStats stats = client.stats();
    ObjectNode out = Json.object();
    out.put("policy", client.policy().name());
    ObjectNode queue = out.putObject("queue");
    queue.put("waiting", stats.waiting());
    queue.put("in_flight", stats.inFlight());
    queue.put("retries_left", stats.retriesLeft());
    out.put("pd_sessions", 0);
    ObjectNode index = out.putObject("index");
    index.put("bytes", stats.index().bytes());
    index.put("budget_bytes", stats.index().budgetBytes());
    index.put("nodes", stats.index().nodes());
    index.put("entries", stats.index().entries());
    ObjectNode blocks = out.putObject("block_index");
    blocks.put("bytes", stats.blocks().bytes());
    blocks.put("budget_bytes", stats.blocks().budgetBytes());
    blocks.put("blocks", stats.blocks().blocks());
    blocks.put("holdings", stats.blocks().holdings());
    ObjectNode answers = out.putObject("answers");
    answers.put("waiting", stats.answers().waiting());
    answers.put("bytes", stats.answers().bytes());
    answers.put("budget_bytes", stats.answers().budgetBytes());
    answers.put("dropped", stats.answers().dropped());
    ObjectNode predictions = out.putObject("predictions");
    client
        .predictions()
        .forEach(
            (rank, verdict) ->
                predictions
                    .putObject(rank)
                    .put("suspect", verdict.suspect())
                    .put("cause", verdict.cause() == null ? null : verdict.cause().label())
                    .put("reason", verdict.reason())
                    .put("credit", verdict.credit())
                    .put("compared", verdict.compared())
                    .put("failed", verdict.failed())
                    .put("unpredicted", verdict.unpredicted())
                    .put("miscounted", verdict.miscounted())
                    .put("unreported", verdict.unreported()));
    ObjectNode breaker = out.putObject("breaker");
    ArrayNode workers = out.putArray("workers");
    client
        .workers()
        .list()
        .forEach(
            view -> {
              breaker.put(view.worker().id().value(), client.breaker(view.worker()));
              workers.add(Views.worker(client, view));
            });
    return out;
  }
}
