package dev.warmpath.fake.kv;

import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * How a fake engine publishes changes of its KV cache over ZeroMQ. What is not set follows the
 * engine and its version.
 *
 * <p>SGLang and vLLM send three frames: topic, sequence number (8 bytes, big-endian, from 0) and a
 * msgpack batch {@code [seconds, events, rank]}; each rank has a port of its own. ATOM sends the
 * batch alone, behind the topic if there is one, from its first rank only, and replays nothing.
 *
 * <p>Sent to the replay port, {@code ["", number]} is answered by {@code ["", number, batch]} for
 * every batch from that number on that is still kept, and {@code ["", -1, ""]} at the end.
 *
 * @param port the port of rank 0; 0 picks free ones
 * @param replayPort the replay port of rank 0, 0 for free ones, empty for no replay
 * @param topic the first frame, maybe empty
 * @param scheme the hash scheme, one of {@link dev.warmpath.hash.HashSchemes#names}; null for the
 *     engine's own: {@code sglang-event}, {@code vllm-sha256}, {@code atom}
 * @param hashSeed vLLM's {@code PYTHONHASHSEED}; null for unset
 * @param integerHashes whether vLLM reports the last 64 bits of a digest rather than all of its
 *     bytes
 * @param encoding the layout of events; null for the version's own
 * @param keptBatches batches kept for replay, of each rank
 * @param highWaterMark batches that wait for a subscriber that does not read; it loses what comes
 *     after them
 */
public record KvEventSettings(
    int port,
    OptionalInt replayPort,
    String topic,
    @Nullable String scheme,
    @Nullable String hashSeed,
    boolean integerHashes,
    @Nullable KvEventEncoding encoding,
    int keptBatches,
    int highWaterMark) {

  /** Checks the ranges. */
  public KvEventSettings {
    Objects.requireNonNull(topic, "topic");
    requirePort(port, "port");
    if (replayPort.isPresent()) {
      requirePort(replayPort.getAsInt(), "replayPort");
    }
    if (keptBatches < 1) {
      throw new IllegalArgumentException("keptBatches must be at least 1, was " + keptBatches);
    }
    if (highWaterMark < 1) {
      throw new IllegalArgumentException("highWaterMark must be at least 1, was " + highWaterMark);
    }
  }

  private static void requirePort(int port, String name) {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(name + " must be from 0 to 65535, was " + port);
    }
  }

  /**
   * Starts from free ports, no replay, an empty topic, integer hashes, 10,000 batches kept and
   * 100,000 waiting for a subscriber, as both engines do.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects {@link KvEventSettings}; not thread-safe. */
  public static final class Builder {
    private int port;
    private OptionalInt replayPort = OptionalInt.empty();
    private String topic = "";
    private @Nullable String scheme;
    private @Nullable String hashSeed;
    private boolean integerHashes = true;
    private @Nullable KvEventEncoding encoding;
    private int keptBatches = 10_000;
    private int highWaterMark = 100_000;

    private Builder() {}

    /**
     * Sets {@link KvEventSettings#port()}.
     *
     * @param value a port, or 0
     * @return this
     */
    public Builder port(int value) {
      port = value;
      return this;
    }

    /**
     * Sets {@link KvEventSettings#replayPort()}.
     *
     * @param value a port, or 0
     * @return this
     */
    public Builder replayPort(int value) {
      replayPort = OptionalInt.of(value);
      return this;
    }

    /**
     * Sets {@link KvEventSettings#topic()}.
     *
     * @param value the topic
     * @return this
     */
    public Builder topic(String value) {
      topic = value;
      return this;
    }

    /**
     * Sets {@link KvEventSettings#scheme()}.
     *
     * @param value its name
     * @return this
     */
    public Builder scheme(String value) {
      scheme = value;
      return this;
    }

    /**
     * Sets {@link KvEventSettings#hashSeed()}.
     *
     * @param value the seed's text
     * @return this
     */
    public Builder hashSeed(String value) {
      hashSeed = value;
      return this;
    }

    /**
     * Sets {@link KvEventSettings#integerHashes()}.
     *
     * @param value false for whole digests as bytes
     * @return this
     */
    public Builder integerHashes(boolean value) {
      integerHashes = value;
      return this;
    }

    /**
     * Sets {@link KvEventSettings#encoding()}.
     *
     * @param value the layout
     * @return this
     */
    public Builder encoding(KvEventEncoding value) {
      encoding = value;
      return this;
    }

    /**
     * Sets {@link KvEventSettings#keptBatches()}.
     *
     * @param value at least 1
     * @return this
     */
    public Builder keptBatches(int value) {
      keptBatches = value;
      return this;
    }

    /**
     * Sets {@link KvEventSettings#highWaterMark()}.
     *
     * @param value at least 1
     * @return this
     */
    public Builder highWaterMark(int value) {
      highWaterMark = value;
      return this;
    }

    /**
     * Builds the settings.
     *
     * @return the settings
     * @throws IllegalArgumentException if a number is out of range
     */
    public KvEventSettings build() {
      return new KvEventSettings(
          port,
          replayPort,
          topic,
          scheme,
          hashSeed,
          integerHashes,
          encoding,
          keptBatches,
          highWaterMark);
    }
  }
}
