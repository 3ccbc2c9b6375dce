package dev.warmpath.examples;

import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ScopeType;

/** Entry point of the {@code warmpath} command line. */
@Command(
    name = "warmpath",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = Main.Version.class,
    description = "Sends every LLM request straight to the worker that already holds its prefix.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      ChatCommand.class,
      CompleteCommand.class,
      ExplainCommand.class,
      WorkersCommand.class,
      ModelsCommand.class,
      BenchCommand.class,
      RecordCommand.class,
      LabCommand.class,
      FakeCommand.class,
      StatusCommand.class,
      CacheCommand.class,
      AbortCommand.class,
      PauseCommand.class,
      ResumeCommand.class,
      ProfileCommand.class,
      MetricsCommand.class,
      HistoryCommand.class,
      RenderCommand.class,
      TokenizeCommand.class,
      HashCommand.class,
      UmbpCommand.class,
      KnowledgeCommand.class,
      RagCommand.class
    })
public final class Main {
  @Mixin private final LoggingOptions logging = new LoggingOptions();

  private Main() {}

  /** The options of every command. */
  LoggingOptions logging() {
    return logging;
  }

  /**
   * Runs one command and exits with its code: 0 when it did what was asked, 1 when the work failed,
   * 2 when the arguments are wrong.
   *
   * @param args the command and its options
   */
  public static void main(String[] args) {
    CommandLine line = commandLine();
    // JSON and prompts are UTF-8, whatever the locale says
    line.setOut(new PrintWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), true));
    System.exit(line.execute(args));
  }

  static CommandLine commandLine() {
    Main main = new Main();
    CommandLine line = new CommandLine(main);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setExecutionStrategy(
        parsed -> {
          main.logging.apply();
          return new CommandLine.RunLast().execute(parsed);
        });
    line.setParameterExceptionHandler(CommandFailure::wrongArguments);
    line.setExecutionExceptionHandler(CommandFailure::failedWork);
    return line;
  }

  /** Reads the version that the jar's manifest carries. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"warmpath " + (version == null ? "(unpackaged)" : version)};
    }
  }
}
