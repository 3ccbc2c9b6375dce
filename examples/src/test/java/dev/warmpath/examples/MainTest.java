package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void helpNamesTheCommand() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).startsWith("Usage: warmpath");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void wrongArgumentsExitWithTwoAndSayWhich() {
    assertThat(run("--no-such-option")).isEqualTo(2);
    assertThat(err.toString()).contains("--no-such-option");
    assertThat(out.toString()).isEmpty();
  }

  private int run(String... args) {
    return Main.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }
}
