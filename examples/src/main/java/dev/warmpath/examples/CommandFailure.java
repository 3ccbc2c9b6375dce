package dev.warmpath.examples;

import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouterException;
import java.io.IOException;
import picocli.CommandLine;

/**
 * What a command says when it can't do its work: one line on stderr, and exit code 1, or 2 for what
 * the user gave.
 */
final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  private CommandFailure(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /** The user gave something wrong. */
  static CommandFailure usage(String message) {
    return new CommandFailure(2, message);
  }

  /** The work failed. */
  static CommandFailure work(String message) {
    return new CommandFailure(1, message);
  }

  static int wrongArguments(CommandLine.ParameterException e, String[] args) {
    CommandLine line = e.getCommandLine();
    String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("wrong arguments");
    line.getErr().println(message + " (see " + line.getCommandSpec().qualifiedName() + " --help)");
    return 2;
  }

  static int failedWork(Exception e, CommandLine line, CommandLine.ParseResult parsed) {
    line.getErr().println(line.getCommandSpec().qualifiedName() + ": " + oneLine(e));
    if (e instanceof CommandFailure failure) {
      return failure.exitCode;
    }
    return e instanceof InvalidRequestException || e instanceof IllegalArgumentException ? 2 : 1;
  }

  private static String oneLine(Exception e) {
    String message = e.getMessage();
    boolean known =
        e instanceof CommandFailure
            || e instanceof RouterException
            || e instanceof IOException
            || e instanceof IllegalArgumentException;
    String text =
        message == null || !known ? e.getClass().getSimpleName() + ": " + message : message;
    return text.replaceAll("\\s*\\R\\s*", " ");
  }
}
