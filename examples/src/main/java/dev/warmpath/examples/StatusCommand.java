package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.RouterClient.ClientStats;
import dev.warmpath.RouterStatus;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventStats;
import picocli.CommandLine.Command;

/** Looks at the workers once and shows what a client would know. */
@Command(
    name = "status",
    description = "Looks at the named workers once and shows what a client would know.")
final class StatusCommand extends ViewCommand {
  @Override
  String text(RouterClient client) {
    ClientStats stats = client.stats();
    RouterStatus.Readiness readiness = client.readiness();
    return "policy   "
        + client.policy().name()
        + System.lineSeparator()
        + "config   "
        + client.config()
        + System.lineSeparator()
        + "ready    "
        + (readiness.ready() ? "yes, " : "no, ")
        + readiness.up()
        + " of "
        + readiness.workers()
        + " workers are up and routed to"
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

  @Override
  ObjectNode document(RouterClient client) {
    return Json.parse(client.status().toJson());
  }
}
