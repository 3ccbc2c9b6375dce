package dev.warmpath.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Objects;

/** One run of a command in this process. */
record Run(int exitCode, String out, String err) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static Run of(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        Main.commandLine()
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(args);
    return new Run(exitCode, out.toString(), err.toString());
  }

  JsonNode json() {
    try {
      return JSON.readTree(out);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The text at a place within a JSON document, named by fields and indices. */
  static String text(String document, Object... path) {
    try {
      JsonNode node = JSON.readTree(document);
      for (Object step : path) {
        node = step instanceof Integer index ? node.path(index) : node.path(step.toString());
      }
      return node.asText();
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A JSON document of core's test resources. */
  static JsonNode resource(String name) {
    try (InputStream in = Objects.requireNonNull(Run.class.getResourceAsStream(name), name)) {
      return JSON.readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
