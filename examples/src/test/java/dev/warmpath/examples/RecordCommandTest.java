package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.load.MooncakeTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordCommandTest {
  private static final String GOOD =
      "{\"timestamp\":%d,\"body\":{\"messages\":[{\"role\":\"user\",\"content\":\"a secret\"}]},"
          + "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":3}}%n";

  @TempDir private Path folder;

  private Path log(String text) throws IOException {
    return Files.writeString(folder.resolve("log.jsonl"), text);
  }

  private Run record(Path log, String... more) {
    String[] args = new String[more.length + 5];
    String[] first = {"record", "--log", log.toString(), "--out", out().toString()};
    System.arraycopy(first, 0, args, 0, 5);
    System.arraycopy(more, 0, args, 5, more.length);
    return Run.of(args);
  }

  private Path out() {
    return folder.resolve("trace.jsonl");
  }

  @Test
  void recordsATraceThatBenchReads() throws IOException {
    Path log = log(GOOD.formatted(1) + "oops, a secret\n" + GOOD.formatted(2));
    Run run = record(log);
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .contains("2 requests of 3 lines", "left out: not JSON: 1 (line 2)")
        .contains("counted 0.50 prompt tokens for each that engines reported")
        .doesNotContain("secret");
    assertThat(run.err()).isEmpty();
    assertThat(MooncakeTrace.read(out(), 9)).hasSize(2);
    assertThat(Files.readString(out())).doesNotContain("secret");
    try (var files = Files.list(folder)) {
      assertThat(files).hasSize(2);
    }
  }

  @Test
  void jsonTellsTheSame() throws IOException {
    Run run = record(log(GOOD.formatted(1) + "oops\n"), "--json", "--block-size", "16");
    assertThat(run.exitCode()).isZero();
    assertThat(run.json().path("rows").asInt()).isEqualTo(1);
    assertThat(run.json().at("/skipped/not JSON/first_line").asInt()).isEqualTo(2);
    assertThat(run.json().path("counted_over_reported").asDouble()).isEqualTo(0.5);
  }

  @Test
  void aModelCountsExactly() throws IOException {
    Path model = SmallModel.writeTo(folder.resolve("model"));
    Run run = record(log(GOOD.formatted(1)), "--model-dir", model.toString(), "--json");
    assertThat(run.exitCode()).isZero();
    String chat = "<|im_start|>user\na secret<|im_end|>\n<|im_start|>assistant\n";
    Run exact = Run.of("tokenize", "--tokenizer", model.toString(), "--text", chat, "--json");
    assertThat(run.json().path("prompt_tokens").asInt()).isEqualTo(exact.json().path("ids").size());
  }

  @Test
  void saysWhatIsWrong() throws IOException {
    assertThat(Run.of("record").exitCode()).isEqualTo(2);
    Run missing = record(folder.resolve("none.jsonl"));
    assertThat(missing.exitCode()).isEqualTo(2);
    assertThat(missing.err()).contains("none.jsonl' can't be read");
    Run nothing = record(log("oops\n"));
    assertThat(nothing.exitCode()).isEqualTo(1);
    assertThat(nothing.err()).contains("is a request: not JSON: 1 (line 1)");
    assertThat(out()).doesNotExist();
    Run nowhere =
        Run.of(
            "record",
            "--log",
            log(GOOD.formatted(1)).toString(),
            "--out",
            folder.resolve("no/where.jsonl").toString());
    assertThat(nowhere.exitCode()).isEqualTo(2);
    assertThat(record(log("x"), "--block-size", "1").exitCode()).isEqualTo(2);
  }
}
