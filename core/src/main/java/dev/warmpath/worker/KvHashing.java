package dev.warmpath.worker;

import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What is configured of the way in which a worker hashes KV blocks; engines don't tell. Nothing of
 * it is needed to route by this client's own requests.
 *
 * @param scheme the hash scheme's name, such as {@code vllm-sha256-cbor}, or null for the engine's
 *     default
 * @param seed the engine's {@code PYTHONHASHSEED} (vLLM), or null where it is not set or not known
 * @param contextParallel ranks of the context that share a hash (ATOM: decode; vLLM: decode times
 *     prefill), or null for 1
 * @param eagle whether blocks overlap by a token, as with EAGLE (SGLang)
 * @param bareMultimodalKeys whether images enter by their identifier alone, as in some vLLM builds
 */
public record KvHashing(
    @Nullable String scheme,
    @Nullable String seed,
    @Nullable Integer contextParallel,
    boolean eagle,
    boolean bareMultimodalKeys) {

  /** Nothing is configured. */
  public static final KvHashing UNKNOWN = new KvHashing(null, null, null, false, false);

  /** Refuses less than one rank. */
  public KvHashing {
    if (contextParallel != null && contextParallel < 1) {
      throw new IllegalArgumentException("a decode context of " + contextParallel + " ranks");
    }
  }

  /**
   * These values with one more, by its configured key: {@code hash}, {@code hash-seed}, {@code
   * dcp}, {@code eagle} or {@code mm-keys}.
   *
   * @return null where the key is none of them
   * @throws IllegalArgumentException where the value does not fit
   */
  @Nullable KvHashing with(String key, String value) {
    return switch (key) {
      case "hash" ->
          new KvHashing(
              value.toLowerCase(Locale.ROOT), seed, contextParallel, eagle, bareMultimodalKeys);
      case "hash-seed" -> new KvHashing(scheme, value, contextParallel, eagle, bareMultimodalKeys);
      case "dcp" -> new KvHashing(scheme, seed, number(value), eagle, bareMultimodalKeys);
      case "eagle" ->
          new KvHashing(
              scheme,
              seed,
              contextParallel,
              oneOf(key, value, "true", "false"),
              bareMultimodalKeys);
      case "mm-keys" ->
          new KvHashing(scheme, seed, contextParallel, eagle, oneOf(key, value, "bare", "pair"));
      default -> null;
    };
  }

  /** Gives each value that is not the default, by its configured key. */
  void forEach(BiConsumer<String, String> values) {
    if (scheme != null) {
      values.accept("hash", scheme);
    }
    if (seed != null) {
      values.accept("hash-seed", seed);
    }
    if (contextParallel != null) {
      values.accept("dcp", contextParallel.toString());
    }
    if (eagle) {
      values.accept("eagle", "true");
    }
    if (bareMultimodalKeys) {
      values.accept("mm-keys", "bare");
    }
  }

  private static int number(String value) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("dcp=" + value + " is not a whole number", e);
    }
  }

  private static boolean oneOf(String key, String value, String yes, String no) {
    if (value.equals(yes) || value.equals(no)) {
      return value.equals(yes);
    }
    throw new IllegalArgumentException(key + "=" + value + ": use " + yes + " or " + no);
  }
}
