package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceRecorderTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  private final TraceRecorder recorder = TraceRecorder.builder().blockTokens(16).build();
  private final StringWriter trace = new StringWriter();

  private static String line(Object at, String... said) {
    ObjectNode line = JSON.createObjectNode();
    line.set("timestamp", JSON.valueToTree(at));
    ObjectNode body = line.putObject("body");
    for (int i = 0; i < said.length; i++) {
      body.withArray("messages")
          .addObject()
          .put("role", i % 2 == 0 ? "user" : "assistant")
          .put("content", said[i]);
    }
    body.put("max_tokens", 33);
    return line.toString();
  }

  private RecordedTrace record(String... lines) throws IOException {
    return recorder.record(new StringReader(String.join("\n", lines)), trace);
  }

  private List<TraceRequest> rows() throws IOException {
    return MooncakeTrace.read(
        Files.writeString(folder.resolve("t.jsonl"), trace.toString()), Integer.MAX_VALUE);
  }

  @Test
  void equalBeginningsAreEqualBlocksAndNothingElseIsKept() throws IOException {
    String secret = "the launch code is 0000 ".repeat(20);
    RecordedTrace recorded =
        record(
            line(1_700_000_000.5, secret),
            line(1_700_000_001.5, secret, "no", "why not?"),
            line(1_700_000_002, "x" + secret));
    List<TraceRequest> rows = rows();
    // 480 bytes are 120 tokens, with three markers around.
    assertThat(rows.get(0).inputTokens()).isEqualTo(123);
    assertThat(rows.get(0).hashIds()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(rows.get(1).hashIds()).startsWith(0, 1, 2, 3, 4, 5, 6, 8);
    assertThat(rows.get(2).hashIds()).doesNotContain(0, 1, 7, 8);
    assertThat(rows).extracting(TraceRequest::arrivalMs).containsExactly(0.0, 1_000.0, 1_500.0);
    assertThat(rows).extracting(TraceRequest::outputTokens).containsOnly(33);
    assertThat(recorded.rows()).isEqualTo(3);
    assertThat(recorded.skipped()).isEmpty();
    assertThat(recorded.uniqueBlocks()).isEqualTo(18);
    assertThat(trace.toString()).doesNotContain("launch", "0000", "user", "messages");
    assertThat(recorded.toString()).doesNotContain("launch");
  }

  @Test
  void theKeyDoesNotShow() throws IOException {
    String[] lines = {line(1, "a".repeat(300)), line(2, "a".repeat(200)), line(3, "b")};
    record(lines);
    String first = trace.toString();
    trace.getBuffer().setLength(0);
    record(lines);
    assertThat(trace.toString()).isEqualTo(first);
  }

  @Test
  void usageSessionsAndFormsOfTime() throws IOException {
    RecordedTrace recorded =
        record(
            "{'time':'2026-01-01T00:00:00+01:00','session_id':'alice','prompt':'aaaabbbb','usage':"
                    .replace('\'', '"')
                + "{\"prompt_tokens\":4,\"completion_tokens\":7}}",
            "{'timestamp':1767222001000,'session_id':'bob','request':{'prompt':[1,2,3]}}"
                .replace('\'', '"'),
            ("{'timestamp':1767222002,'session_id':'alice','prompt':['aaaa','bbbb'],"
                    + "'response':{'usage':{'completion_tokens':9}}}")
                .replace('\'', '"'));
    List<TraceRequest> rows = rows();
    assertThat(rows)
        .extracting(TraceRequest::sessionId)
        .containsExactly("session-0", "session-1", "session-0", "session-0");
    assertThat(rows)
        .extracting(TraceRequest::arrivalMs)
        .containsExactly(0.0, 1_000.0, 2_000.0, 2_000.0);
    assertThat(rows).extracting(TraceRequest::outputTokens).containsExactly(7, 256, 9, 9);
    assertThat(rows).extracting(TraceRequest::inputTokens).containsExactly(2, 3, 1, 1);
    assertThat(recorded.assumedOutputs()).isEqualTo(1);
    assertThat(recorded.reportedPromptTokens()).isEqualTo(4);
    assertThat(recorded.countedPromptTokens()).isEqualTo(2);
    assertThat(trace.toString()).doesNotContain("alice", "bob");
  }

  @Test
  void badLinesAreCountedAndTheOthersGoOn() throws IOException {
    TraceRecorder narrow = TraceRecorder.builder().mostLineChars(200).build();
    RecordedTrace recorded =
        narrow.record(
            new StringReader(
                String.join(
                    "\n",
                    "my secret, not JSON",
                    "",
                    "[1]",
                    line(5, "good"),
                    "{\"prompt\":\"x\"}",
                    "{\"timestamp\":\"yesterday\",\"prompt\":\"x\"}",
                    "{\"timestamp\":1}",
                    "{\"timestamp\":1",
                    line(6, "z".repeat(300)),
                    line(7, "good"),
                    "")),
            trace);
    assertThat(recorded.lines()).isEqualTo(9);
    assertThat(recorded.rows()).isEqualTo(2);
    assertThat(recorded.skippedLines()).isEqualTo(7);
    assertThat(recorded.skipped())
        .isEqualTo(
            Map.of(
                "not JSON", new RecordedTrace.Skipped(2, 1),
                "not a JSON object", new RecordedTrace.Skipped(1, 3),
                "no timestamp", new RecordedTrace.Skipped(1, 5),
                "a timestamp that is neither a number nor ISO 8601 with an offset",
                    new RecordedTrace.Skipped(1, 6),
                "neither messages nor a prompt", new RecordedTrace.Skipped(1, 7),
                "more than 200 characters", new RecordedTrace.Skipped(1, 9)));
    assertThat(rows()).hasSize(2);
  }

  @Test
  void memoryIsBoundedAndWhatIsForgottenIsTold() throws IOException {
    TraceRecorder small = TraceRecorder.builder().blockTokens(16).mostBlocks(2).build();
    RecordedTrace recorded =
        small.record(
            new StringReader(
                String.join("\n", line(1, "a"), line(2, "b"), line(3, "c"), line(4, "a"))),
            trace);
    assertThat(recorded.forgottenBlocks()).isEqualTo(2);
    assertThat(rows()).extracting(row -> row.hashIds()[0]).containsExactly(0L, 1L, 2L, 3L);
  }

  @Test
  void settingsHaveRanges() {
    assertThatThrownBy(() -> TraceRecorder.builder().blockTokens(8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("blockTokens must be at least 16, was 8");
  }
}
