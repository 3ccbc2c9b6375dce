package dev.warmpath.examples;

import dev.warmpath.Admin;
import dev.warmpath.transport.PauseMode;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Pauses engines. */
@Command(
    name = "pause",
    description =
        "Pauses engines. Clients that run elsewhere are not told: engines hold what these send.")
final class PauseCommand extends FleetCommand {
  @Option(
      names = "--mode",
      paramLabel = "MODE",
      defaultValue = "keep",
      description =
          "what becomes of requests that run: keep, abort, retract (SGLang) or wait (vLLM)"
              + " (default: ${DEFAULT-VALUE})")
  private PauseMode mode = PauseMode.KEEP;

  @Override
  List<Admin.Result> run(Admin admin) {
    return admin.pause(mode);
  }
}
