package dev.warmpath.fake.load;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes traces in the format of the Mooncake FAST'25 traces: a JSON object per line.
 *
 * <p>{@code timestamp} is in milliseconds; {@code input_length} and {@code output_length} are
 * tokens; {@code hash_ids} names each block of 512 prompt tokens, the last one maybe partial. A row
 * without {@code input_length} is as long as its blocks, and no row is longer. Beyond Mooncake's
 * own traces a row may have
 *
 * <ul>
 *   <li>{@code session_id}: rows with the same one are turns of a session, in order. The first has
 *       no delay; a later one waits {@code delay_ms} (or {@code delay}, milliseconds as well) after
 *       the answer before, or without one the time between the two timestamps; with a delay it
 *       needs no timestamp
 *   <li>{@code block_size}: tokens of a block, other than 512
 *   <li>{@code program}: {@link TraceRequest#program()}
 * </ul>
 */
public final class MooncakeTrace {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonFactory ROWS = new JsonFactory();
  private static final String SAMPLE = "conversation-500.jsonl";

  private final String name;

  /** The nominal arrival of each session's last row. */
  private final Map<String, Double> lastOf = new HashMap<>();

  private int line;

  private MooncakeTrace(String name) {
    this.name = name;
  }

  /**
   * Reads a file.
   *
   * @param file the trace
   * @param limit rows at most
   * @return its requests in the file's order
   * @throws IOException naming the file, and the line where one is at fault
   */
  public static List<TraceRequest> read(Path file, int limit) throws IOException {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new IOException("trace " + file + " can't be read");
    }
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      return new MooncakeTrace(file.toString()).read(reader, limit);
    }
  }

  /**
   * The sample that comes with this module: the first 500 rows of the conversation trace.
   *
   * @return its requests
   */
  public static List<TraceRequest> sample() {
    try (InputStream in = MooncakeTrace.class.getResourceAsStream(SAMPLE)) {
      if (in == null) {
        throw new IllegalStateException("resource " + SAMPLE + " is missing from the jar");
      }
      return new MooncakeTrace(SAMPLE)
          .read(
              new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)),
              Integer.MAX_VALUE);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<TraceRequest> read(BufferedReader reader, int limit) throws IOException {
    List<TraceRequest> rows = new ArrayList<>();
    for (String text = reader.readLine();
        text != null && rows.size() < limit;
        text = reader.readLine()) {
      line++;
      if (!text.isBlank()) {
        rows.add(row(text));
      }
    }
    if (rows.isEmpty()) {
      throw new IOException("trace " + name + " has no rows");
    }
    return rows;
  }

  private TraceRequest row(String text) throws IOException {
    JsonNode node;
    try {
      node = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IOException("trace " + name + ", line " + line + " is not JSON");
    }
    String session = node.path("session_id").asText("");
    if (session.isEmpty()) {
      session = "row-" + (line - 1);
    }
    Double before = lastOf.get(session);
    JsonNode delayed = node.has("delay_ms") ? node.path("delay_ms") : node.path("delay");
    boolean knowsWhen = node.path("timestamp").isNumber() || (before != null && delayed.isNumber());
    JsonNode blocks = node.path("hash_ids");
    if (!knowsWhen
        || !node.path("output_length").canConvertToInt()
        || !blocks.isArray()
        || blocks.isEmpty()) {
      throw wrong("needs timestamp, input_length, output_length and hash_ids");
    }
    if (before == null && delayed.asDouble() > 0) {
      throw wrong("has a delay, but is the first of session " + session);
    }
    double delay = delayed.asDouble();
    double at = node.path("timestamp").asDouble(before == null ? 0 : before + delay);
    if (before != null && !delayed.isNumber()) {
      delay = Math.max(0, at - before);
    }
    if (node.has("session_id")) {
      lastOf.put(session, at);
    }
    int block = node.path("block_size").asInt(TraceRequest.MOONCAKE_BLOCK_TOKENS);
    long capacity = (long) blocks.size() * Math.max(1, block);
    long input = Math.max(1, Math.min(node.path("input_length").asLong(capacity), capacity));
    if (block < 1 || input > Integer.MAX_VALUE || delay < 0) {
      throw wrong("has a block_size, input_length or delay out of range");
    }
    return new TraceRequest(
        at,
        session,
        delay,
        (int) input,
        Math.max(1, node.path("output_length").asInt()),
        ids(blocks, (int) ((input + block - 1) / block)),
        block,
        node.path("program").asText(""));
  }

  private long[] ids(JsonNode blocks, int count) throws IOException {
    long[] ids = new long[blocks.size()];
    for (int i = 0; i < ids.length; i++) {
      if (!blocks.get(i).canConvertToLong()) {
        throw wrong("has hash_ids that are no 64-bit integers");
      }
      ids[i] = blocks.get(i).asLong();
    }
    return count == ids.length ? ids : Arrays.copyOf(ids, count);
  }

  private IOException wrong(String what) {
    return new IOException("trace " + name + ", line " + line + " " + what);
  }

  /**
   * Writes one row and a line feed.
   *
   * @param request the request; its session is written unless it is named as {@link #read} names
   *     rows without one
   * @param out where to; stays open
   * @throws IOException if that fails
   */
  public static void write(TraceRequest request, Writer out) throws IOException {
    JsonGenerator json = ROWS.createGenerator(out);
    json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
    json.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
    json.writeStartObject();
    if (request.arrivalMs() == Math.rint(request.arrivalMs())) {
      json.writeNumberField("timestamp", (long) request.arrivalMs());
    } else {
      json.writeNumberField("timestamp", request.arrivalMs());
    }
    json.writeNumberField("input_length", request.inputTokens());
    json.writeNumberField("output_length", request.outputTokens());
    json.writeArrayFieldStart("hash_ids");
    for (long id : request.hashIds()) {
      json.writeNumber(id);
    }
    json.writeEndArray();
    if (!request.sessionId().isEmpty() && !request.sessionId().startsWith("row-")) {
      json.writeStringField("session_id", request.sessionId());
      if (request.delayAfterPreviousMs() > 0) {
        json.writeNumberField("delay_ms", request.delayAfterPreviousMs());
      }
    }
    if (request.hashBlockTokens() != TraceRequest.MOONCAKE_BLOCK_TOKENS) {
      json.writeNumberField("block_size", request.hashBlockTokens());
    }
    if (!request.program().isEmpty()) {
      json.writeStringField("program", request.program());
    }
    json.writeEndObject();
    json.close();
    out.write('\n');
  }
}
