package dev.warmpath.examples;

import java.io.PrintStream;

/** A line on stderr that says how far long work has come; silent unless stderr is a terminal's. */
final class Progress {
  private final PrintStream out;
  private final boolean shown;
  private volatile boolean written;

  Progress() {
    this.out = System.err;
    this.shown = System.console() != null;
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
