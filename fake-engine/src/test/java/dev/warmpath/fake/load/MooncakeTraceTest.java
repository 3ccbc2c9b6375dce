package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MooncakeTraceTest {
  @TempDir private Path folder;

  private List<TraceRequest> read(String text) throws IOException {
    Path file = Files.writeString(folder.resolve("t.jsonl"), text.replace('\'', '"'));
    return MooncakeTrace.read(file, Integer.MAX_VALUE);
  }

  @Test
  void rowsOfOneRequestAreSessionsOfTheirOwn() throws IOException {
    List<TraceRequest> rows =
        read(
            """
            {'timestamp': 5, 'input_length': 600, 'output_length': 7, 'hash_ids': [0, 3]}

            {'timestamp': 9, 'output_length': 0, 'hash_ids': [0]}
            """);
    assertThat(rows).extracting(TraceRequest::sessionId).doesNotHaveDuplicates();
    assertThat(rows.get(0).hashIds()).containsExactly(0, 3);
    assertThat(rows.get(1).inputTokens()).isEqualTo(512);
    assertThat(rows.get(1).outputTokens()).isEqualTo(1);
  }

  @Test
  void lengthsAndIdsAreBroughtTogether() throws IOException {
    List<TraceRequest> rows =
        read(
            """
            {'timestamp': 5, 'input_length': 9999, 'output_length': 7, 'hash_ids': [0, 3]}
            {'timestamp': 5, 'input_length': 20, 'output_length': 7, 'hash_ids': [0, 3, 4],
             'block_size': 16}
            """
                .replace(",\n ", ", "));
    assertThat(rows.get(0).inputTokens()).isEqualTo(1_024);
    assertThat(rows.get(1).hashIds()).containsExactly(0, 3);
    assertThat(rows.get(1).hashBlockTokens()).isEqualTo(16);
  }

  @Test
  void laterTurnsHaveADelayOrATimestamp() throws IOException {
    List<TraceRequest> rows =
        read(
            """
            {'session_id': 'a', 'timestamp': 100, 'output_length': 7, 'hash_ids': [0]}
            {'session_id': 'a', 'delay_ms': 40, 'output_length': 7, 'hash_ids': [0, 1]}
            {'session_id': 'a', 'delay': 60, 'output_length': 7, 'hash_ids': [0, 1, 2]}
            {'session_id': 'a', 'timestamp': 500, 'output_length': 7, 'hash_ids': [0, 1, 2, 3]}
            """);
    assertThat(rows)
        .extracting(TraceRequest::arrivalMs)
        .containsExactly(100.0, 140.0, 200.0, 500.0);
    assertThat(rows)
        .extracting(TraceRequest::delayAfterPreviousMs)
        .containsExactly(0.0, 40.0, 60.0, 300.0);
    assertThat(TraceSession.of(rows)).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ | is not JSON",
        "{'timestamp': 1, 'output_length': 1} | needs timestamp",
        "{'output_length': 1, 'hash_ids': [1]} | needs timestamp",
        "{'timestamp': 1, 'output_length': 1, 'hash_ids': ['x']} | no 64-bit integers",
        "{'timestamp': 1, 'output_length': 1, 'hash_ids': [1], 'block_size': 0} | out of range",
        "{'session_id': 's', 'timestamp': 1, 'delay': 5, 'output_length': 1, 'hash_ids': [1]}"
            + " | has a delay, but is the first of session s"
      })
  void aBadLineIsNamed(String line, String problem) {
    String good = "{'timestamp': 1, 'output_length': 1, 'hash_ids': [1]}\n";
    assertThatThrownBy(() -> read(good + line.replace("''", "'")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("t.jsonl, line 2 ")
        .hasMessageContaining(problem);
  }

  @Test
  void aFileMustBeThereAndHaveRows() {
    assertThatThrownBy(() -> MooncakeTrace.read(folder, 1)).hasMessageContaining("can't be read");
    assertThatThrownBy(() -> read("\n")).hasMessageContaining("has no rows");
  }

  @Test
  void whatIsWrittenIsRead() throws IOException {
    List<TraceRequest> sessions =
        TraceSession.requests(Workloads.draw("agents", java.util.Map.of("duration", "5"), 3));
    for (List<TraceRequest> rows : List.of(MooncakeTrace.sample(), sessions)) {
      StringWriter out = new StringWriter();
      for (TraceRequest row : rows) {
        MooncakeTrace.write(row, out);
      }
      List<TraceRequest> again = read(out.toString());
      assertThat(again).usingRecursiveComparison().isEqualTo(rows);
    }
  }
}
