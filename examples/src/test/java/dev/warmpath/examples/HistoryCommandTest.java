package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.RouterClient;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.okhttp.OkHttpTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryCommandTest {
  @TempDir Path folder;
  private Path file;

  /** A client that looked at workers which are not there, and kept what it knew as it closed. */
  @BeforeEach
  void keep() {
    file = folder.resolve("loads.db");
    RouterClient.builder()
        .worker("http://127.0.0.1:1")
        .worker("http://127.0.0.1:2")
        .transport(OkHttpTransport.create())
        .loadHistory(LoadHistorySettings.of(file))
        .build()
        .close();
  }

  private Run history(String... more) {
    List<String> args = new ArrayList<>(List.of("history", "--file", file.toString()));
    args.addAll(List.of(more));
    return Run.of(args.toArray(new String[0]));
  }

  @Test
  void printsRowsAsJsonTableAndPage() throws IOException {
    JsonNode rows = history("--json").json().path("rows");
    assertThat(rows).hasSize(2);
    assertThat(rows.path(0).path("worker").asText()).isEqualTo("http://127.0.0.1:1");
    assertThat(rows.path(0).path("running").isNull()).as("unknown is not zero").isTrue();
    Path page = folder.resolve("history.html");
    Run plotted = history("--html", page.toString());
    assertThat(plotted.exitCode()).isZero();
    assertThat(plotted.out()).contains("http://127.0.0.1:2", "2 rows", "plots: " + page);
    assertThat(Files.readString(page)).contains("<!doctype html>", "2 rows of 2 ranks", "States");
    String only = "http://127.0.0.1:2";
    JsonNode chosen = history("--worker", only, "--json").json().path("rows");
    assertThat(chosen).hasSize(1);
    assertThat(chosen.path(0).path("worker").asText()).isEqualTo(only);
    assertThat(history("--last", "1").out()).contains("the last 1 of 2 rows");
  }

  @Test
  void saysWhatIsWrong() throws IOException {
    Run misread = history("--since", "yesterday");
    assertThat(misread.exitCode()).isEqualTo(2);
    assertThat(misread.err()).contains("24h");
    Files.writeString(file, "no database");
    assertThat(history().exitCode()).isEqualTo(1);
    file = folder.resolve("none.db");
    Run missing = history();
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.err()).contains("none.db");
    assertThat(file).doesNotExist();
  }

  @Test
  void timesAreReadInTheUsualUnits() {
    assertThat(HistoryCommand.time("90s")).isEqualTo(Duration.ofSeconds(90));
    assertThat(HistoryCommand.time("30m")).isEqualTo(Duration.ofMinutes(30));
    assertThat(HistoryCommand.time("24h")).isEqualTo(Duration.ofHours(24));
    assertThat(HistoryCommand.time("7d")).isEqualTo(Duration.ofDays(7));
  }
}
