package dev.warmpath.examples;

import java.io.Console;
import java.io.PrintStream;

/** A line on stderr that says how far long work has come; silent unless stderr is a terminal's. */
final class Progress {
  private final PrintStream out;
  private final boolean shown;
  private volatile boolean written;

  Progress() {
    this.out = System.err;
    this.shown = terminal();
  }

  /** On JDK 22 and later there is a console without a terminal, too; it says so itself. */
  @SuppressWarnings("SystemConsoleNull")
  private static boolean terminal() {
    Console console = System.console();
    if (console == null) {
      return false;
    }
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException before22) {
      return true;
    }
  }

  void show(String line) {
    if (shown) {
      out.print("\r\033[K" + line);
      out.flush();
      written = true;
    }
  }

  void clear() {
    if (written) {
      out.print("\r\033[K");
      out.flush();
    }
  }
}
