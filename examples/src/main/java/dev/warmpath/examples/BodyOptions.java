package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.RouterRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that make up one request. */
final class BodyOptions {
  @Option(names = "--body", paramLabel = "FILE", description = "an OpenAI body, as JSON")
  private @Nullable Path body;

  @Option(
      names = "--path",
      paramLabel = "PATH",
      description = "the path the body goes to (default: by the body's fields)")
  private @Nullable String path;

  @Option(names = "--session", paramLabel = "KEY", description = "the session key")
  private @Nullable String session;

  @Option(names = "--pin", paramLabel = "WORKER", description = "the worker to prefer over all")
  private @Nullable String pin;

  @Option(names = "--deadline-ms", paramLabel = "N", description = "the longest it may take")
  private @Nullable Long deadlineMillis;

  boolean fromFile() {
    return body != null;
  }

  /**
   * The request.
   *
   * @param built what to send when no file is given
   */
  RouterRequest request(@Nullable Built built) throws IOException {
    String json;
    String target;
    Path file = body;
    if (file != null) {
      if (!Files.isReadable(file) || Files.isDirectory(file)) {
        throw CommandFailure.usage("body file '" + file + "' can't be read");
      }
      json = Files.readString(file);
      target =
          path != null
              ? path
              : json.contains("\"messages\"")
                  ? RouterRequest.CHAT_COMPLETIONS
                  : RouterRequest.COMPLETIONS;
    } else if (built != null) {
      json = built.json().toString();
      target = built.path();
    } else {
      throw CommandFailure.usage("name the request's body with --body FILE");
    }
    RouterRequest.Builder request = RouterRequest.builder(target).body(json);
    if (session != null) {
      request.sessionKey(session);
    }
    if (pin != null) {
      request.pin(pin);
    }
    if (deadlineMillis != null) {
      request.deadline(Duration.ofMillis(deadlineMillis));
    }
    return request.build();
  }

  /**
   * A request made from arguments.
   *
   * @param path where it goes
   * @param json its body
   */
  record Built(String path, ObjectNode json) {}
}
