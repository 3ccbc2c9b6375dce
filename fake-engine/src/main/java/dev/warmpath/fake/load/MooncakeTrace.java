package dev.warmpath.fake.load;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads traces in the format of the Mooncake FAST'25 traces: a JSON object per line. */
public final class MooncakeTrace {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SAMPLE = "conversation-500.jsonl";

  private MooncakeTrace() {}

  /**
   * Reads a file.
   *
   * @param limit rows at most
   * @throws IOException naming the file, and the line where one is at fault
   */
  public static List<TraceRow> read(Path file, int limit) throws IOException {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new IOException("trace " + file + " can't be read");
    }
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      return read(reader, file.toString(), limit);
    }
  }

  /** The sample that comes with this module: the first 500 rows of the conversation trace. */
  public static List<TraceRow> sample() {
    try (InputStream in = MooncakeTrace.class.getResourceAsStream(SAMPLE)) {
      if (in == null) {
        throw new IllegalStateException("resource " + SAMPLE + " is missing from the jar");
      }
      return read(
          new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)),
          SAMPLE,
          Integer.MAX_VALUE);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<TraceRow> read(BufferedReader reader, String name, int limit)
      throws IOException {
    List<TraceRow> rows = new ArrayList<>();
    int line = 0;
    for (String text = reader.readLine();
        text != null && rows.size() < limit;
        text = reader.readLine()) {
      line++;
      if (!text.isBlank()) {
        rows.add(row(text, name, line));
      }
    }
    if (rows.isEmpty()) {
      throw new IOException("trace " + name + " has no rows");
    }
    return rows;
  }

  private static TraceRow row(String text, String name, int line) throws IOException {
    JsonNode node;
    try {
      node = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IOException("trace " + name + ", line " + line + " is not JSON");
    }
    JsonNode blocks = node.path("hash_ids");
    if (!node.path("timestamp").isNumber()
        || !node.path("output_length").canConvertToInt()
        || !blocks.isArray()
        || blocks.isEmpty()) {
      throw new IOException(
          "trace "
              + name
              + ", line "
              + line
              + " needs timestamp, input_length, output_length and hash_ids");
    }
    int[] ids = new int[blocks.size()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = blocks.get(i).asInt();
    }
    int capacity = ids.length * TraceRow.BLOCK_TOKENS;
    int input = node.path("input_length").asInt(capacity);
    return new TraceRow(
        node.path("timestamp").asDouble(),
        Math.max(1, Math.min(input, capacity)),
        Math.max(1, node.path("output_length").asInt()),
        ids);
  }
}
