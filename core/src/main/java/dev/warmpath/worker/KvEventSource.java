package dev.warmpath.worker;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a worker tells of changes of its KV cache over ZeroMQ.
 *
 * @param host the host, or {@link #OWN_HOST} for the worker's own
 * @param port the port of rank 0; rank r has the r-th after it
 * @param replayPort the port of rank 0 where earlier events are asked for, likewise, or null
 * @param topic what a message's first frame begins with, maybe empty
 */
public record KvEventSource(String host, int port, @Nullable Integer replayPort, String topic) {
  /** The host of the worker's address. */
  public static final String OWN_HOST = "*";

  /** The label that names the endpoint, such as {@code tcp://*:5557}, or {@code off}. */
  public static final String LABEL = "kv-events";

  /** The label that names the replay endpoint, of the same host. */
  public static final String REPLAY_LABEL = "kv-replay";

  /** The label that names the topic. */
  public static final String TOPIC_LABEL = "kv-topic";

  private static final String OFF = "off";

  private static final Pattern ENDPOINT =
      Pattern.compile("tcp://(\\*|[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+]):([0-9]{1,5})");

  /** Checks the ports. */
  public KvEventSource {
    check(port);
    if (replayPort != null) {
      check(replayPort);
    }
  }

  private static void check(int port) {
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("port " + port + " of KV events: use 1 to 65535");
    }
  }

  /**
   * What a worker's labels say.
   *
   * @return null where they say nothing, or that there is none
   * @throws IllegalArgumentException saying what to correct
   */
  static @Nullable KvEventSource of(Map<String, String> labels) {
    String endpoint = labels.get(LABEL);
    if (endpoint == null || endpoint.equals(OFF)) {
      return null;
    }
    Matcher live = match(LABEL, endpoint);
    String replay = labels.get(REPLAY_LABEL);
    return new KvEventSource(
        live.group(1),
        Integer.parseInt(live.group(2)),
        replay == null ? null : Integer.valueOf(match(REPLAY_LABEL, replay).group(2)),
        labels.getOrDefault(TOPIC_LABEL, ""));
  }

  /** Whether the labels say whether there is one. */
  static boolean told(Map<String, String> labels) {
    return labels.containsKey(LABEL);
  }

  private static Matcher match(String label, String value) {
    Matcher matcher = ENDPOINT.matcher(value);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          label + "=" + value + ": use tcp://host:port, with * for the worker's own host");
    }
    return matcher;
  }

  /**
   * Where a rank tells.
   *
   * @param worker whose own host it may be
   * @param rank the data-parallel rank, 0 where there is one only
   * @return such as {@code tcp://10.0.0.11:5557}
   */
  public String url(WorkerId worker, int rank) {
    return endpoint(worker, port + rank);
  }

  /**
   * Where a rank is asked for what it told earlier.
   *
   * @return null where it can't be
   */
  public @Nullable String replayUrl(WorkerId worker, int rank) {
    return replayPort == null ? null : endpoint(worker, replayPort + rank);
  }

  private String endpoint(WorkerId worker, int at) {
    return "tcp://" + (host.equals(OWN_HOST) ? worker.uri().getHost() : host) + ":" + at;
  }
}
