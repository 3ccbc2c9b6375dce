package dev.warmpath.worker;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a worker said of itself when it was probed. Null means that the engine does not say, never a
 * default.
 *
 * @param engine the engine kind
 * @param version the engine's version, or null
 * @param role the part of a request it computes, or null
 * @param models the model names it serves; empty while unknown
 * @param dpSize data-parallel ranks a request may name, or null
 * @param blockSize KV block (page) size in tokens, or null
 * @param kvCapacityTokens KV capacity of one rank in tokens, or null
 * @param maxRunningRequests running requests a rank admits, or null
 * @param cacheReport whether responses carry {@code cached_tokens}, or null
 * @param transfer what a prefill or decode worker says of how it hands KV over, under the names
 *     that labels of its configuration would have: {@code bootstrap-port} and the like
 * @param kvEvents where it tells of its KV cache, or null
 */
public record WorkerCapabilities(
    EngineKind engine,
    @Nullable String version,
    @Nullable WorkerRole role,
    List<ServedModel> models,
    @Nullable Integer dpSize,
    @Nullable Integer blockSize,
    @Nullable Long kvCapacityTokens,
    @Nullable Integer maxRunningRequests,
    @Nullable Boolean cacheReport,
    Map<String, String> transfer,
    @Nullable KvEventSource kvEvents) {

  /** Nothing is known. */
  public static final WorkerCapabilities UNKNOWN =
      new WorkerCapabilities(
          EngineKind.UNKNOWN, null, null, List.of(), null, null, null, null, null, Map.of(), null);

  /** These, and where the worker tells of its KV cache. */
  public WorkerCapabilities withKvEvents(@Nullable KvEventSource source) {
    return new WorkerCapabilities(
        engine,
        version,
        role,
        models,
        dpSize,
        blockSize,
        kvCapacityTokens,
        maxRunningRequests,
        cacheReport,
        transfer,
        source);
  }

  /** Copies {@code models} and {@code transfer}. */
  public WorkerCapabilities {
    models = List.copyOf(models);
    transfer = Map.copyOf(transfer);
  }

  /** Those of a worker that says nothing of how it hands KV over, nor of where it tells of it. */
  public WorkerCapabilities(
      EngineKind engine,
      @Nullable String version,
      @Nullable WorkerRole role,
      List<ServedModel> models,
      @Nullable Integer dpSize,
      @Nullable Integer blockSize,
      @Nullable Long kvCapacityTokens,
      @Nullable Integer maxRunningRequests,
      @Nullable Boolean cacheReport) {
    this(
        engine,
        version,
        role,
        models,
        dpSize,
        blockSize,
        kvCapacityTokens,
        maxRunningRequests,
        cacheReport,
        Map.of(),
        null);
  }

  /** These, with what is said of handing KV over. */
  public WorkerCapabilities withTransfer(Map<String, String> said) {
    return new WorkerCapabilities(
        engine,
        version,
        role,
        models,
        dpSize,
        blockSize,
        kvCapacityTokens,
        maxRunningRequests,
        cacheReport,
        said,
        kvEvents);
  }

  /**
   * These, with what they leave open taken from {@code earlier}: an endpoint that does not answer
   * this time has not changed the worker.
   */
  public WorkerCapabilities orElse(WorkerCapabilities earlier) {
    return new WorkerCapabilities(
        engine == EngineKind.UNKNOWN ? earlier.engine : engine,
        version == null ? earlier.version : version,
        role == null ? earlier.role : role,
        models.isEmpty() ? earlier.models : models,
        dpSize == null ? earlier.dpSize : dpSize,
        blockSize == null ? earlier.blockSize : blockSize,
        kvCapacityTokens == null ? earlier.kvCapacityTokens : kvCapacityTokens,
        maxRunningRequests == null ? earlier.maxRunningRequests : maxRunningRequests,
        cacheReport == null ? earlier.cacheReport : cacheReport,
        transfer.isEmpty() ? earlier.transfer : transfer,
        kvEvents == null ? earlier.kvEvents : kvEvents);
  }
}
