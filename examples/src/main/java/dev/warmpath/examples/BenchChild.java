package dev.warmpath.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

/**
 * A process that sends a share of the load: it says when it is ready, waits to be told to begin,
 * and ends at once when nobody is there any more who could tell it anything.
 */
final class BenchChild {
  private final PrintStream out;
  private final CountDownLatch begun = new CountDownLatch(1);
  private volatile boolean done;

  BenchChild(InputStream in, PrintStream out) {
    this.out = out;
    Thread watch = new Thread(() -> watch(in), "warmpath-bench-parent");
    watch.setDaemon(true);
    watch.start();
  }

  private void watch(InputStream in) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.equals(BenchProcesses.BEGIN)) {
          begun.countDown();
        }
      }
    } catch (IOException e) {
      // As good as the end.
    }
    if (!done) {
      Runtime.getRuntime().halt(1);
    }
  }

  /** Says that all is ready, and waits for the word. */
  void await() {
    out.println(BenchProcesses.READY);
    out.flush();
    try {
      begun.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The work is done: from now on its parent may go. */
  void end() {
    done = true;
  }
}
