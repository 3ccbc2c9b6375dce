package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of promises names a test for each, and each test that it names is there. */
class PromisesTableTest {
  private static final int PROMISES = 24;
  private static final Pattern ROW = Pattern.compile("\\| I(\\d+) \\|[^|]+\\|([^|]+)\\|");
  private static final Pattern TEST = Pattern.compile("`(\\w+)\\.(\\w+)`");

  @Test
  void every_promise_has_a_test_of_its_name() throws IOException {
    Map<String, String> sources = sources();
    boolean[] held = new boolean[PROMISES + 1];
    for (String line : Files.readAllLines(Path.of("PREFILL_DECODE.md"))) {
      Matcher row = ROW.matcher(line);
      if (!row.matches()) {
        continue;
      }
      int promise = Integer.parseInt(row.group(1));
      Matcher test = TEST.matcher(row.group(2));
      while (test.find()) {
        assertThat(test.group(2)).as("names its promise").containsPattern("(^|_)i" + promise + "_");
        assertThat(sources.get(test.group(1)))
            .as("%s is a test of %s", test.group(2), test.group(1))
            .isNotNull()
            .contains("void " + test.group(2) + "(");
        held[promise] = true;
      }
    }
    for (int promise = 1; promise <= PROMISES; promise++) {
      assertThat(held[promise]).as("I%s", promise).isTrue();
    }
  }

  /** The project's test classes by their simple name. */
  private static Map<String, String> sources() throws IOException {
    Map<String, String> sources = new HashMap<>();
    for (String module : new String[] {"core", "okhttp-integration", "examples"}) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "test", "java"))) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(file -> sources.put(name(file), read(file)));
      }
    }
    return sources;
  }

  private static String name(Path file) {
    return file.getFileName().toString().replace(".java", "");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
