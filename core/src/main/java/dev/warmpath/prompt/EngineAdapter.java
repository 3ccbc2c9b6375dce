package dev.warmpath.prompt;

import dev.warmpath.api.Headers;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What differs from engine to engine between a request as the application sends it and as a worker
 * takes it, and between a prompt and the worker's names for its blocks. One for each kind, without
 * state.
 */
public abstract sealed class EngineAdapter
    permits SglangAdapter, VllmAdapter, AtomAdapter, PlainAdapter {
  private final String name;
  private final Fields fields;

  EngineAdapter(String name, Fields fields) {
    this.name = name;
    this.fields = fields;
  }

  /**
   * Where a request says what routing adds, and a response what the cache gave.
   *
   * @param rank names the data-parallel rank: a header, or a body field; null where there is none
   * @param requestId names the request: a header or a body field; null where there is none
   * @param inHeaders which of the two are headers: both, none, or only the rank
   * @param cachedTokens the path of the cached tokens in a response, and what switches it on
   */
  public record Fields(
      @Nullable String rank,
      @Nullable String requestId,
      Placement inHeaders,
      @Nullable String cachedTokens) {}

  /** Which of rank and request id are headers; the others are fields of the body. */
  public enum Placement {
    /** Both are headers. */
    BOTH,
    /** The rank is a header, the id a field. */
    RANK,
    /** Both are fields. */
    NONE
  }

  /**
   * A request in the engine's own dress.
   *
   * @param headers the headers to send
   * @param body the body to send
   * @param rid the id by which the engine knows the request, or null where it knows none
   */
  public record Adapted(Headers headers, byte[] body, @Nullable String rid) {}

  /** The adapter's name: {@code sglang}, {@code fake-sglang}, {@code vllm}, {@code atom}. */
  public final String name() {
    return name;
  }

  /** Where rank, request id and cached tokens stand. */
  public final Fields fields() {
    return fields;
  }

  /**
   * Names rank and id to the target's engine.
   *
   * @param target where the request goes
   * @param prompt what its body says
   * @param headers its headers, routing headers already removed
   * @param body its body; not changed, copied where a field is added
   * @param rid an id of fixed length, none a prefix of another, since SGLang aborts by prefix
   */
  public abstract Adapted adapt(
      WorkerRank target, Prompt prompt, Headers headers, byte[] body, String rid);

  /** How a worker names its blocks in its KV events. */
  public abstract EngineHashing hashing(Worker worker);

  /**
   * How a worker names its blocks in the stores of KV it shares with others (HiCache, UMBP's pool):
   * as in its events, unless the engine has other keys for them.
   */
  public EngineHashing storageHashing(Worker worker) {
    return hashing(worker);
  }

  /**
   * The key of a block in such a store, before what a backend appends for model and rank: the whole
   * digest in hexadecimal where there is one, else the number that the engine reports.
   *
   * @param hashes made by {@link #storageHashing}'s scheme, with their digests
   */
  public String storageKey(BlockHashes hashes, int block) {
    String digest = hashes.digestHex(block);
    return digest == null ? hashes.reported(block) : digest;
  }

  /** The parameters that a worker's block size and configuration settle. */
  static HashParams.Builder params(Worker worker, int blockTokens) {
    return HashParams.builder().blockSize(blockTokens).seed(worker.spec().hashing().seed());
  }

  private static int objectStart(byte[] body) {
    int i = 0;
    while (i < body.length
        && (body[i] == ' ' || body[i] == '\n' || body[i] == '\r' || body[i] == '\t')) {
      i++;
    }
    return i < body.length && body[i] == '{' ? i : -1;
  }

  static boolean isObject(byte[] body) {
    return objectStart(body) >= 0;
  }

  /** The JSON object {@code body} with one more field in front. */
  static byte[] withField(byte[] body, String field) {
    int open = objectStart(body);
    int next = open + 1;
    while (next < body.length && Character.isWhitespace(body[next])) {
      next++;
    }
    boolean empty = next < body.length && body[next] == '}';
    byte[] added = (empty ? field : field + ",").getBytes(StandardCharsets.UTF_8);
    byte[] out = new byte[body.length + added.length];
    System.arraycopy(body, 0, out, 0, open + 1);
    System.arraycopy(added, 0, out, open + 1, added.length);
    System.arraycopy(body, open + 1, out, open + 1 + added.length, body.length - open - 1);
    return out;
  }
}
