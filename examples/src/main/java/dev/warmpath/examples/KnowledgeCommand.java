package dev.warmpath.examples;

import picocli.CommandLine.Command;

/** Knowledge routing on the command line. */
@Command(
    name = "knowledge",
    description = "Knowledge routing: where the knowledge is, then who should answer.",
    subcommands = {
      KnowledgeRouteCommand.class,
      KnowledgeViewCommand.Status.class,
      KnowledgeViewCommand.Kdns.class,
      KnowledgeViewCommand.Targets.class,
      KnowledgeViewCommand.Strategy.class,
      KnowledgeLabCommand.class
    })
final class KnowledgeCommand {}
