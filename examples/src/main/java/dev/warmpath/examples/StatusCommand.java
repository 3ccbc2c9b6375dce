package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.RouterClient.ClientStats;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventStats;
import org.jspecify.annotations.Nullable;
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
        + events(stats.kvEvents())
        + Views.table(client);
  }

  private static String events(KvEventStats stats) {
    StringBuilder text = new StringBuilder();
    for (KvEventStats.Rank rank : stats.ranks()) {
      KvStream.Stats stream = rank.stream();
      text.append("events   ")
          .append(rank.rank())
          .append(rank.connected() ? " heard at " : " not heard at ")
          .append(rank.endpoint())
          .append(stream.complete() ? ", all of " : ", part of ")
          .append(stream.rank().blocks())
          .append(" blocks, ")
          .append(stream.gaps())
          .append(" gaps, ")
          .append(stream.losses())
          .append(" losses")
          .append(System.lineSeparator());
    }
    return text.toString();
  }

  private static @Nullable Double known(double value) {
    return Double.isNaN(value) ? null : value;
  }

  private static void events(KvEventStats stats, ObjectNode out) {
    ObjectNode events = out.putObject("kv_events");
    events.put("bytes", stats.bytes());
    events.put("budget_bytes", stats.budgetBytes());
    ObjectNode ranks = events.putObject("ranks");
    for (KvEventStats.Rank rank : stats.ranks()) {
      KvStream.Stats stream = rank.stream();
      ranks
          .putObject(rank.rank())
          .put("endpoint", rank.endpoint())
          .put("connected", rank.connected())
          .put("complete", stream.complete())
          .put("blocks", stream.rank().blocks())
          .put("batches", stream.batches())
          .put("events", stream.events())
          .put("gaps", stream.gaps())
          .put("replays", stream.replays())
          .put("losses", stream.losses())
          .put("restarts", stream.restarts())
          .put("duplicates", stream.duplicates())
          .put("unplaced", stream.rank().unplaced())
          .put("malformed", rank.malformed())
          .put("last_epoch_seconds", stream.lastEpochSeconds())
          .put("lag_seconds", known(stream.lagSeconds()))
          .put("events_per_second", stream.eventsPerSecond());
    }
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
    events(stats.kvEvents(), out);
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
