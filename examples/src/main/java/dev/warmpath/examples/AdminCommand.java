package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.Admin;
import dev.warmpath.RouterClient;
import dev.warmpath.worker.WorkerId;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A command that has engines do something. Workers are named one by one or all together, so that
 * nothing is done to a fleet by a name left out.
 */
abstract class AdminCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private RouterOptions router = new RouterOptions();

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "PT30S",
      description = "how long each worker may take (default: ${DEFAULT-VALUE})")
  private Duration timeout = Duration.ofSeconds(30);

  /** Whether it is for every worker of the configuration, where none is named. */
  abstract boolean all();

  /** Does it. */
  abstract List<Admin.Result> run(Admin admin);

  /** Refuses what can't be meant; before any worker is looked at. */
  void check() {}

  /** The tier, for the document, or null. */
  @Nullable String level() {
    return null;
  }

  @Override
  public Integer call() {
    check();
    if (!router.given() && !all()) {
      throw CommandFailure.usage("name the workers with --worker, or say --all for every worker");
    }
    List<Admin.Result> results = new ArrayList<>();
    try (RouterClient client = router.reach()) {
      if (router.given()) {
        for (WorkerId worker : router.ids()) {
          results.addAll(run(client.admin().worker(worker.value()).timeout(timeout)));
        }
      } else {
        results.addAll(run(client.admin().everyWorker().timeout(timeout)));
      }
    }
    print(results, spec.commandLine().getOut());
    return results.stream().allMatch(result -> result.outcome().success()) ? 0 : 1;
  }

  private void print(List<Admin.Result> results, PrintWriter out) {
    if (json) {
      ObjectNode document = Json.object();
      ArrayNode list = document.putArray("results");
      for (Admin.Result result : results) {
        ObjectNode one = list.addObject().put("worker", result.worker());
        if (level() != null) {
          one.put("level", level());
        }
        one.put("command", result.command())
            .put("outcome", result.outcome().label())
            .put("detail", result.detail());
      }
      out.println(Json.document(document));
      return;
    }
    TextTable table = new TextTable("worker", "command", "outcome", "detail");
    for (Admin.Result result : results) {
      table.row(result.worker(), result.command(), result.outcome().label(), result.detail());
    }
    out.println(table.toString().stripTrailing());
  }
}
