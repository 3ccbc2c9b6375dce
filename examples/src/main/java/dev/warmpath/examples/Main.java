package dev.warmpath.examples;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Entry point of the {@code warmpath} command line. */
@Command(
    name = "warmpath",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = "Sends every LLM request straight to the worker that already holds its prefix.")
public final class Main {

  private Main() {}

  /**
   * Runs one command and exits with its code: 0 when it did what was asked, 1 when the work failed,
   * 2 when the arguments are wrong.
   *
   * @param args the command and its options
   */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main());
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
