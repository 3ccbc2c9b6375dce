package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example RAG service on fakes, from a folder to answers. */
@Timeout(120)
class RagIT {
  @TempDir private Path folder;

  private void write(String name, String subject) throws Exception {
    Files.writeString(
        folder.resolve(name), (subject + " is what this text is about, at length. ").repeat(80));
  }

  @Test
  void findsTheTextAndKvSavesItsPrefill() throws Exception {
    write("llamas.md", "Llama husbandry");
    write("tides.txt", "Tidal harmonics");
    Files.createDirectory(folder.resolve(".hidden"));
    write(".hidden/no.md", "Nothing");
    write("data.csv", "Numbers");

    Run run =
        Run.of(
            "rag",
            "--folder",
            folder.toString(),
            "--workers",
            "2",
            "--speedup",
            "50",
            "--json",
            "How do tidal harmonics work?",
            "What is llama husbandry?");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode document = new ObjectMapper().readTree(run.out());
    assertThat(document.path("pieces").asInt()).isEqualTo(2);
    JsonNode answers = document.path("answers");
    assertThat(answers).hasSize(4);
    for (int i = 0; i < 4; i++) {
      JsonNode answer = answers.get(i);
      boolean kv = i >= 2;
      assertThat(answer.path("way").asText()).isEqualTo(kv ? "kv" : "text");
      assertThat(answer.path("injected").asText()).as("%s", answer).isEqualTo(kv ? "kv" : "text");
      assertThat(answer.path("source").asText())
          .isEqualTo(i % 2 == 0 ? "tides.txt#1" : "llamas.md#1");
      assertThat(answer.path("ttft_ms").isNumber()).isTrue();
      assertThat(answer.path("text").asText()).isNotBlank();
      assertThat(answer.path("prompt_tokens").asInt()).isGreaterThan(768);
      assertThat(answer.path("cached_tokens").asInt()).isEqualTo(kv ? 1_024 : 0);
      assertThat(answer.path("kv_bytes").asLong()).isEqualTo(kv ? 1_024L * 327_680 : 0);
    }
  }

  @Test
  void asksOfItsOwnAccordAndShowsATable() throws Exception {
    write("llamas.md", "Llama husbandry");

    Run run =
        Run.of(
            "rag",
            "--folder",
            folder.toString(),
            "--workers",
            "1",
            "--nodes",
            "1",
            "--speedup",
            "50");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("1 pieces of text", "llamas.md#1", "of KV sent");
  }

  @Test
  void refusesWhatItCantIndex() {
    assertThat(Run.of("rag", "--folder", folder.toString()).err()).contains("no .md or .txt");
    assertThat(Run.of("rag", "--folder", "nowhere").exitCode()).isEqualTo(2);
    assertThat(Run.of("rag").exitCode()).isEqualTo(2);
  }

  @Test
  void modelThatIsNotThereIsNamed() throws Exception {
    write("llamas.md", "Llama husbandry");
    Run run = Run.of("rag", "--folder", folder.toString(), "--embedding", "minilm");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("all-MiniLM-L6-v2");
  }
}
