package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the self-contained jar as a user does. */
class PackagedJarIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;

  @Test
  void startsByItselfAndKnowsItsVersion() throws Exception {
    assertThat(run(Map.of(), "--version")).matches("warmpath \\d+\\.\\d+\\.\\d+\\S*\\R");
  }

  @Test
  void rendersATemplate() throws Exception {
    JsonNode golden = null;
    JsonNode model = null;
    for (JsonNode each : Run.resource("/dev/warmpath/prompt/template/model-goldens.json")) {
      JsonNode first = each.path("cases").path(0);
      if (!StandardCharsets.US_ASCII.newEncoder().canEncode(first.path("expected").asText())) {
        model = each;
        golden = first;
      }
    }
    assertThat(golden).as("a golden that is not plain ASCII").isNotNull();
    Path template = write("template.jinja", model.path("template").asText());
    Path context = write("context.json", golden.path("context").toString());
    // whatever the locale
    assertThat(
            run(
                Map.of("LC_ALL", "C"),
                "render",
                "--template",
                template.toString(),
                "--context",
                context.toString(),
                "--now",
                "2025-07-10T12:00:00"))
        .isEqualTo(golden.path("expected").asText());
  }

  @Test
  void tokenizesAndHashes() throws Exception {
    try (InputStream in =
        Run.class.getResourceAsStream("/dev/warmpath/prompt/tokenizer/chatml/tokenizer.json")) {
      Files.copy(in, folder.resolve("tokenizer.json"));
    }
    String text = "<|im_start|>user\ngrüße, 世界<|im_end|>\n";
    Path said = write("text", text);
    String tokenized =
        run(
            Map.of("LC_ALL", "C"),
            "tokenize",
            "--tokenizer",
            folder.toString(),
            "--text-file",
            said.toString(),
            "--json");
    JsonNode document = JSON.readTree(tokenized);
    assertThat(document.path("text").asText()).isEqualTo(text);
    Path ids = write("ids.json", tokenized);
    JsonNode hashes =
        JSON.readTree(
            run(
                Map.of(),
                "hash",
                "--scheme",
                "sglang-event",
                "--tokens-file",
                ids.toString(),
                "--json"));
    assertThat(hashes.path("blocks")).hasSize(document.path("ids").size());
  }

  @Test
  void hashesAsTheEnginesDo() throws Exception {
    for (String scheme : List.of("sglang-event", "vllm-sha256-cbor", "dynamo", "llmd")) {
      JsonNode vector = Run.resource("/vectors/hash/" + scheme + ".json").path("cases").path(2);
      JsonNode hashes =
          JSON.readTree(
              run(
                  Map.of(),
                  "hash",
                  "--scheme",
                  scheme,
                  "--params",
                  write("params.json", vector.path("params").toString()).toString(),
                  "--tokens-file",
                  write("tokens.json", vector.path("token_ids").toString()).toString(),
                  "--json"));
      assertThat(hashes.path("blocks")).hasSize(1);
      assertThat(hashes.path("blocks").path(0).path("reported").asText())
          .isEqualTo(
              vector
                  .path(scheme.equals("sglang-event") ? "expected_i64" : "expected_u64")
                  .path(0)
                  .asText());
    }
  }

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  /** What a command prints that ends well. */
  private static String run(Map<String, String> environment, String... args) throws Exception {
    Process process = start(environment, args);
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(printed).isZero();
    return printed;
  }

  private static Process start(Map<String, String> environment, String... args) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-jar");
    command.add(System.getProperty("warmpath.jar"));
    command.addAll(List.of(args));
    ProcessBuilder process = new ProcessBuilder(command).redirectErrorStream(true);
    process.environment().putAll(environment);
    return process.start();
  }
}
