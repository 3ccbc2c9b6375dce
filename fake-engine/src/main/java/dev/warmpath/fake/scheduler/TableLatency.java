package dev.warmpath.fake.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Times interpolated from measurements, as the interpolated mode of NVIDIA Dynamo's mocker does it:
 * prefill linearly over the tokens that a pass computes, decode bilinearly over the active KV
 * tokens and the mean context length. Outside of the measured range the outermost pair of points is
 * extended in a straight line. Prefill is never less than 0 ms, a decode step never less than 1 ms.
 *
 * <p>The file is one JSON object:
 *
 * <pre>{@code
 * {
 *   "description": "what was measured, on what",
 *   "prefill": {"tokens": [128, 2048, 8192], "ms": [18.4, 49.3, 169.1]},
 *   "decode": {
 *     "active_kv_tokens": [1000, 500000],
 *     "context_length": [512, 8192],
 *     "ms": [[6.1, 6.3], [25.8, 27.0]]
 *   }
 * }
 * }</pre>
 *
 * <p>{@code description} may be left out. Both axes and {@code tokens} rise strictly and have at
 * least two points; {@code decode.ms} has a row for each of {@code active_kv_tokens}.
 */
public final class TableLatency implements LatencyModel {
  private static final double LEAST_DECODE_MS = 1;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String name;
  private final String description;
  private final double[] prefillTokens;
  private final double[] prefillMs;
  private final double[] activeTokens;
  private final double[] contextTokens;
  private final double[][] decodeMs;

  private TableLatency(String name, JsonNode table) {
    this.name = name;
    this.description = table.path("description").asText("measurements in a table");
    this.prefillTokens = axis(table, "/prefill/tokens");
    this.prefillMs = numbers(table.at("/prefill/ms"), "/prefill/ms", prefillTokens.length);
    this.activeTokens = axis(table, "/decode/active_kv_tokens");
    this.contextTokens = axis(table, "/decode/context_length");
    JsonNode rows = table.at("/decode/ms");
    if (rows.size() != activeTokens.length) {
      throw wrong(
          "/decode/ms needs " + activeTokens.length + " rows, one for each of active_kv_tokens");
    }
    this.decodeMs = new double[activeTokens.length][];
    for (int i = 0; i < decodeMs.length; i++) {
      decodeMs[i] = numbers(rows.path(i), "/decode/ms row " + (i + 1), contextTokens.length);
    }
  }

  /**
   * Reads a table.
   *
   * @param file a JSON file as the class describes it
   * @return the model
   * @throws IllegalArgumentException if it can't be read or is no such table, naming the file and
   *     what is wrong with it
   */
  public static TableLatency read(Path file) {
    try {
      return parse("table:" + file, Files.readString(file));
    } catch (IOException e) {
      throw new IllegalArgumentException("timing table " + file + " can't be read", e);
    }
  }

  static TableLatency parse(String name, String json) {
    try {
      return new TableLatency(name, JSON.readTree(json));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("timing " + name + ": not JSON", e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("timing " + name + ": " + e.getMessage(), e);
    }
  }

  private static double[] axis(JsonNode table, String where) {
    JsonNode node = table.at(where);
    if (node.size() < 2) {
      throw wrong(where + " needs an array of at least two numbers");
    }
    double[] axis = numbers(node, where, node.size());
    for (int i = 1; i < axis.length; i++) {
      if (axis[i] <= axis[i - 1]) {
        throw wrong(where + " must rise, but " + axis[i - 1] + " comes before " + axis[i]);
      }
    }
    return axis;
  }

  private static double[] numbers(JsonNode node, String where, int count) {
    if (!node.isArray() || node.size() != count) {
      throw wrong(where + " needs an array of " + count + " numbers");
    }
    double[] numbers = new double[count];
    for (int i = 0; i < count; i++) {
      if (!node.path(i).isNumber() || node.path(i).asDouble() < 0) {
        throw wrong(where + ", number " + (i + 1) + ", is no number of at least 0");
      }
      numbers[i] = node.path(i).asDouble();
    }
    return numbers;
  }

  private static IllegalArgumentException wrong(String what) {
    return new IllegalArgumentException(what);
  }

  @Override
  public double prefillMs(int requests, int meanInputTokens, int meanPrefixTokens) {
    double tokens = (double) requests * (meanInputTokens - meanPrefixTokens);
    return tokens <= 0 ? 0 : Math.max(0, linear(prefillTokens, prefillMs, tokens));
  }

  @Override
  public double decodeMs(
      int requests, long activeKvTokens, int meanContextTokens, long totalTokens) {
    double active = activeKvTokens;
    int at = segment(activeTokens, active);
    double below = linear(contextTokens, decodeMs[at], meanContextTokens);
    double above = linear(contextTokens, decodeMs[at + 1], meanContextTokens);
    double share = share(activeTokens, at, active);
    return Math.max(LEAST_DECODE_MS, below + share * (above - below));
  }

  private static double linear(double[] axis, double[] values, double x) {
    int at = segment(axis, x);
    return values[at] + share(axis, at, x) * (values[at + 1] - values[at]);
  }

  private static double share(double[] axis, int at, double x) {
    return (x - axis[at]) / (axis[at + 1] - axis[at]);
  }

  /** The first of the two points to interpolate between, or to extend the line of. */
  private static int segment(double[] axis, double x) {
    int at = 0;
    while (at < axis.length - 2 && x > axis[at + 1]) {
      at++;
    }
    return at;
  }

  @Override
  public String describe() {
    return description + ", interpolated; outside of what was measured a straight line";
  }

  @Override
  public String toString() {
    return name;
  }
}
