package dev.warmpath.fake.kv;

import java.util.OptionalInt;

/**
 * Where an engine publishes changes of its KV cache.
 *
 * @param host the address its sockets are bound to
 * @param port the port of rank 0; rank r has the r-th after it
 * @param replayPort the port of rank 0 that earlier batches are asked for at, likewise
 * @param topic the first frame of every message
 * @param blockTokens tokens that one hash covers
 * @param ranks how many ranks publish
 */
public record KvEventEndpoint(
    String host, int port, OptionalInt replayPort, String topic, int blockTokens, int ranks) {

  /**
   * Returns what a subscriber connects to.
   *
   * @param rank the data-parallel rank
   * @return such as {@code tcp://127.0.0.1:5557}
   */
  public String url(int rank) {
    return "tcp://" + host + ":" + (port + rank);
  }

  /**
   * Returns where earlier batches are asked for.
   *
   * @param rank the data-parallel rank
   * @return such as {@code tcp://127.0.0.1:5657}
   * @throws IllegalStateException if there is no such socket
   */
  public String replayUrl(int rank) {
    if (replayPort.isEmpty()) {
      throw new IllegalStateException("the engine replays no events");
    }
    return "tcp://" + host + ":" + (replayPort.getAsInt() + rank);
  }
}
