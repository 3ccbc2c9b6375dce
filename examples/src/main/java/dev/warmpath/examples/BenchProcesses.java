package dev.warmpath.examples;

import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.Measurements;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Load from several JVMs, each with its share of the sessions and router clients of its own: they
 * begin together, and what they measured is put together.
 *
 * <p>A child ends when its standard input does, so that none outlives this process, however it
 * ends.
 */
final class BenchProcesses {
  /** What a child says when its clients are connected, and is told to begin. */
  static final String READY = "ready";

  static final String BEGIN = "begin";

  private final List<String> arguments;
  private final int processes;

  /**
   * Makes a runner.
   *
   * @param arguments of {@code bench}, but for what differs from policy to policy and child to
   *     child
   */
  BenchProcesses(List<String> arguments, int processes) {
    this.arguments = List.copyOf(arguments);
    this.processes = processes;
  }

  /** A child, and where it leaves what it measured. */
  private record Child(Process process, BufferedReader says, Path measured) {}

  /**
   * Runs one policy.
   *
   * @param name what the result goes under
   * @param told whether the clients hear KV events
   * @param begin called when all are connected, before they begin
   */
  LoadResult run(String policy, String name, boolean told, Runnable begin)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("warmpath-bench");
    List<Child> children = new ArrayList<>();
    try {
      for (int i = 0; i < processes; i++) {
        children.add(start(i, policy, told, folder.resolve(i + ".bin")));
      }
      for (Child child : children) {
        if (!READY.equals(child.says().readLine())) {
          throw CommandFailure.work("a process of the benchmark could not begin");
        }
      }
      begin.run();
      for (Child child : children) {
        child.process().getOutputStream().write((BEGIN + "\n").getBytes(StandardCharsets.UTF_8));
        child.process().getOutputStream().flush();
      }
      List<Measurements> measured = new ArrayList<>();
      for (Child child : children) {
        if (child.process().waitFor() != 0) {
          throw CommandFailure.work("a process of the benchmark failed");
        }
        try (DataInputStream in = new DataInputStream(Files.newInputStream(child.measured()))) {
          measured.add(Measurements.read(in));
        }
      }
      return Measurements.together(measured).result(name);
    } finally {
      for (Child child : children) {
        child.process().destroyForcibly().waitFor();
        Files.deleteIfExists(child.measured());
      }
      Files.deleteIfExists(folder);
    }
  }

  private Child start(int number, String policy, boolean told, Path measured) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.add("bench");
    command.addAll(arguments);
    command.addAll(List.of("--policy", policy, "--share", number + "/" + processes));
    command.addAll(List.of("--measured", measured.toString()));
    if (told) {
      command.add("--told");
    }
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    return new Child(
        process,
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)),
        measured);
  }
}
