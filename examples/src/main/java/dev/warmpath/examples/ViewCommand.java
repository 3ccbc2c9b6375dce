package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command that looks at the workers once and shows something of them. */
abstract class ViewCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private RouterOptions router = new RouterOptions();

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  /** What people see. */
  abstract String text(RouterClient client);

  /** What programs see. */
  abstract ObjectNode document(RouterClient client);

  @Override
  public Integer call() {
    try (RouterClient client = router.look()) {
      spec.commandLine()
          .getOut()
          .println(json ? Json.document(document(client)) : text(client).stripTrailing());
    }
    return 0;
  }
}
