package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.grpc.umbp.UmbpClient;
import dev.warmpath.grpc.umbp.UmbpMatch;
import io.grpc.Status;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Asks a UMBP master. */
@Command(name = "umbp", description = "Asks a UMBP master who holds which blocks.")
final class UmbpCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Override
  public Integer call() {
    throw CommandFailure.usage("umbp what? There is: " + spec.subcommands().keySet());
  }

  @Command(
      name = "match",
      description =
          "Prints the nodes that hold blocks, tier by tier, as the master tells it; nothing is"
              + " counted as a hit.")
  int match(
      @Option(
              names = "--master",
              required = true,
              paramLabel = "HOST:PORT",
              description = "the master; SGLang's recipes use port 15558")
          String master,
      @Option(
              names = "--hash",
              required = true,
              arity = "1..*",
              split = ",",
              paramLabel = "KEY",
              description =
                  "a block's key, repeated or comma-separated: SGLang's and ATOM's are decimal"
                      + " numbers, as hash prints them under reported")
          List<String> hashes,
      @Option(
              names = "--timeout",
              defaultValue = "PT3S",
              paramLabel = "DURATION",
              description = "how long to wait (default: ${DEFAULT-VALUE})")
          Duration timeout,
      @Option(names = "--json", description = "print one JSON document") boolean json)
      throws InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    List<UmbpMatch> matches = ask(master, hashes, timeout);
    if (json) {
      ObjectNode document = Json.object();
      ArrayNode nodes = document.putArray("matches");
      for (UmbpMatch match : matches) {
        ObjectNode node =
            nodes
                .addObject()
                .put("node", match.node())
                .put("peer", match.peer())
                .put("tier", match.tier());
        match.hashes().forEach(node.putArray("hashes")::add);
      }
      out.println(Json.document(document));
      return 0;
    }
    TextTable table = new TextTable("node", "peer", "tier", "blocks");
    for (UmbpMatch match : matches) {
      table.row(
          match.node(),
          match.peer().isEmpty() ? "-" : match.peer(),
          match.tier(),
          Integer.toString(match.hashes().size()));
    }
    out.println(matches.isEmpty() ? "nobody holds any of them" : table.toString().stripTrailing());
    return 0;
  }

  private static List<UmbpMatch> ask(String master, List<String> hashes, Duration timeout)
      throws InterruptedException {
    UmbpClient client;
    try {
      client = UmbpClient.to(master);
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage("--master " + master + ": " + e.getMessage());
    }
    try (client) {
      return client.match(hashes, timeout).get(2 * timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Status status = Status.fromThrowable(e);
      String detail = status.getDescription();
      throw CommandFailure.work(
          master
              + " did not answer: "
              + status.getCode()
              + (detail == null ? "" : " (" + detail + ")"));
    } catch (TimeoutException e) {
      throw CommandFailure.work(master + " did not answer within " + timeout.toMillis() + " ms");
    }
  }
}
