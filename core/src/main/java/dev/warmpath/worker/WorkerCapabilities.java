package dev.warmpath.worker;

import java.util.List;
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
    @Nullable Boolean cacheReport) {

  /** Nothing is known. */
  public static final WorkerCapabilities UNKNOWN =
      new WorkerCapabilities(
          EngineKind.UNKNOWN, null, null, List.of(), null, null, null, null, null);

  /** Copies {@code models}. */
  public WorkerCapabilities {
    models = List.copyOf(models);
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
        cacheReport == null ? earlier.cacheReport : cacheReport);
  }
}
