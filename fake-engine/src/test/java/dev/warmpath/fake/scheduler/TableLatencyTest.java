package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableLatencyTest {
  private static final String TABLE =
      """
      {"description": "two GPUs and a stopwatch",
       "prefill": {"tokens": [100, 200, 400], "ms": [10, 20, 60]},
       "decode": {"active_kv_tokens": [1000, 3000], "context_length": [10, 20],
                  "ms": [[4, 6], [8, 14]]}}
      """;

  private final TableLatency table = TableLatency.parse("table", TABLE);

  @ParameterizedTest
  @CsvSource({"100, 10", "150, 15", "300, 40", "400, 60", "500, 80", "50, 5", "0, 0"})
  void prefillIsLinearBetweenPointsAndBeyondThem(int tokens, double ms) {
    assertThat(table.prefillMs(1, tokens, 0)).isEqualTo(ms, within(1e-9));
    assertThat(table.prefillMs(1, tokens + 77, 77)).isEqualTo(ms, within(1e-9));
  }

  @Test
  void prefillIsPricedPerPass() {
    assertThat(table.prefillMs(3, 100, 0)).isEqualTo(40, within(1e-9));
  }

  @ParameterizedTest
  @CsvSource({
    "1000, 10, 4",
    "3000, 20, 14",
    "2000, 10, 6",
    "1000, 15, 5",
    "2000, 15, 8",
    "4000, 10, 10",
    "3000, 30, 20",
    "4000, 30, 26",
    "0, 0, 2"
  })
  void decodeIsBilinear(long active, int context, double ms) {
    assertThat(table.decodeMs(5, active, context, 1)).isEqualTo(ms, within(1e-9));
  }

  @Test
  void aDecodeStepTakesAMillisecondAtLeastAndPrefillNoNegativeTime() {
    TableLatency steep =
        TableLatency.parse(
            "steep",
            TABLE
                .replace("[[4, 6], [8, 14]]", "[[0, 6], [2, 14]]")
                .replace("10, 20, 60", "0, 20, 60"));
    assertThat(steep.decodeMs(1, 0, 10, 1)).isEqualTo(1);
    assertThat(steep.prefillMs(1, 50, 0)).isZero();
  }

  @Test
  void aFileIsAPreset(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("t.json"), TABLE);
    LatencyModel read = LatencyModel.parse("table:" + file);
    assertThat(read.prefillMs(1, 150, 0)).isEqualTo(15, within(1e-9));
    assertThat(read.describe()).startsWith("two GPUs and a stopwatch");
    assertThat(read).hasToString("table:" + file);
    assertThatThrownBy(() -> LatencyModel.parse("table:" + folder.resolve("none.json")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("none.json can't be read");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ | not JSON",
        "{} | /prefill/tokens needs an array of at least two numbers",
        "{'prefill':{'tokens':[1,1],'ms':[1,2]}} | /prefill/tokens must rise",
        "{'prefill':{'tokens':[1,2],'ms':[1]}} | /prefill/ms needs an array of 2 numbers",
        "{'prefill':{'tokens':[1,2],'ms':[1,-2]}} | /prefill/ms, number 2, is no number",
        "{'prefill':{'tokens':[1,2],'ms':[1,2]},'decode':{'active_kv_tokens':[1,2],"
            + "'context_length':[1,2],'ms':[[1,2]]}} | /decode/ms needs 2 rows",
        "{'prefill':{'tokens':[1,2],'ms':[1,2]},'decode':{'active_kv_tokens':[1,2],"
            + "'context_length':[1,2],'ms':[[1,2],[1]]}} | /decode/ms row 2 needs an array of 2"
      })
  void saysWhatIsWrong(String json, String problem) {
    assertThatThrownBy(() -> TableLatency.parse("table:x", json.replace('\'', '"')))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("timing table:x: ")
        .hasMessageContaining(problem);
  }
}
