package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.fake.text.PromptRejectedException;
import dev.warmpath.worker.EngineKind;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * What an engine makes of prompts by the code that engines are built on: Jinja2 in a Python
 * process, and Hugging Face's tokenizers.
 */
final class ReferenceEncoder implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path SCRIPT = Path.of("src", "test", "scripts", "engine_prompts.py");

  private final HuggingFaceTokenizer tokenizer;
  private final Process python;
  private final BufferedWriter requests;
  private final BufferedReader answers;

  private ReferenceEncoder(HuggingFaceTokenizer tokenizer, Process python) {
    this.tokenizer = tokenizer;
    this.python = python;
    this.requests = python.outputWriter(StandardCharsets.UTF_8);
    this.answers = python.inputReader(StandardCharsets.UTF_8);
  }

  /** Whether there is a Python with Jinja2. */
  static boolean available() throws InterruptedException {
    try {
      Process python = new ProcessBuilder("python3", "-c", "import jinja2.sandbox").start();
      return python.waitFor() == 0;
    } catch (IOException e) {
      return false; // there is no python3
    }
  }

  /**
   * Starts the reference of a model.
   *
   * @param model holds {@code tokenizer.json} and {@code tokenizer_config.json}
   */
  static ReferenceEncoder start(Path model) throws IOException {
    HuggingFaceTokenizer tokenizer =
        HuggingFaceTokenizer.builder()
            .optTokenizerPath(model.resolve("tokenizer.json"))
            .optTruncation(false)
            .optPadding(false)
            .build();
    ProcessBuilder python =
        new ProcessBuilder(
            "python3", "-B", SCRIPT.toString(), model.resolve("tokenizer_config.json").toString());
    python.redirectError(ProcessBuilder.Redirect.INHERIT);
    return new ReferenceEncoder(tokenizer, python.start());
  }

  /** The encoder of one kind of engine. */
  PromptEncoder of(EngineKind kind) {
    return new PromptEncoder() {
      @Override
      public int[] encodeChat(ObjectNode body) throws PromptRejectedException {
        JsonNode answer = render(kind, body);
        if (answer.has("error")) {
          throw new PromptRejectedException(answer.path("error").asText());
        }
        return encode(answer.path("text").asText(), false);
      }

      @Override
      public int[] encode(String text, boolean addSpecialTokens) {
        return Arrays.stream(tokenizer.encode(text, addSpecialTokens, false).getIds())
            .mapToInt(Math::toIntExact)
            .toArray();
      }

      @Override
      public String decode(int[] ids) {
        return tokenizer.decode(Arrays.stream(ids).asLongStream().toArray(), false);
      }
    };
  }

  private synchronized JsonNode render(EngineKind kind, ObjectNode body) {
    ObjectNode request = JSON.createObjectNode().put("engine", kind.label());
    request.set("body", body);
    try {
      requests.write(request.toString());
      requests.newLine();
      requests.flush();
      String answer = answers.readLine();
      if (answer == null) {
        throw new IOException("the Python process has ended");
      }
      return JSON.readTree(answer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    requests.close(); // it ends with its input
    assertThat(answers.readLine()).isNull();
    answers.close();
    assertThat(python.onExit().join().exitValue()).isZero();
    tokenizer.close();
  }
}
