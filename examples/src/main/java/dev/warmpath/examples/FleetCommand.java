package dev.warmpath.examples;

import picocli.CommandLine.Option;

/** A command that has engines do something, all of the configuration's if that is said. */
abstract class FleetCommand extends AdminCommand {
  @Option(names = "--all", description = "every worker of the configuration")
  private boolean all;

  @Override
  boolean all() {
    return all;
  }
}
