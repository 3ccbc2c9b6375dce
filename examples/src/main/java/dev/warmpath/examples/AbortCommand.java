package dev.warmpath.examples;

import dev.warmpath.Admin;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Ends requests at engines. */
@Command(name = "abort", description = "Ends requests at the named workers, by id or all of them.")
final class AbortCommand extends AdminCommand {
  @Option(
      names = "--rid",
      split = ",",
      paramLabel = "ID",
      description = "the id that the engine knows a request by; repeat or separate by commas")
  private List<String> ids = new ArrayList<>();

  @Option(names = "--all", description = "every request of the named workers, whoever sent it")
  private boolean everyRequest;

  @Override
  boolean all() {
    return false;
  }

  @Override
  void check() {
    if (everyRequest == !ids.isEmpty()) {
      throw CommandFailure.usage("say which requests: --rid ID, or --all for every request");
    }
  }

  @Override
  List<Admin.Result> run(Admin admin) {
    return everyRequest ? admin.abortAll() : admin.abort(ids);
  }
}
