package dev.warmpath.examples;

import dev.warmpath.Admin;
import dev.warmpath.transport.CacheLevel;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What can be done to engines' caches. */
@Command(
    name = "cache",
    description = "Looks after the KV caches of engines.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = CacheCommand.Clear.class)
final class CacheCommand {

  /** Empties a tier. */
  @Command(
      name = "clear",
      description = "Empties a tier of the KV cache, and says what it came to.")
  static final class Clear extends FleetCommand {
    @Option(
        names = "--level",
        required = true,
        paramLabel = "L1|L2|L3",
        description = "the accelerator's memory, the host's, or the external store")
    private CacheLevel level = CacheLevel.L1;

    @Override
    String level() {
      return level.name();
    }

    @Override
    List<Admin.Result> run(Admin admin) {
      return admin.flush(level);
    }
  }
}
