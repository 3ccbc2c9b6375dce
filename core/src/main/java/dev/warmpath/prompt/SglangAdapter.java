package dev.warmpath.prompt;

import dev.warmpath.api.Headers;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;

/**
 * SGLang: rank in header {@code X-Data-Parallel-Rank}, id in body field {@code rid}. The id is left
 * out of batches and {@code n > 1}, where older versions want a list. Its HiCache stores have keys
 * of their own.
 */
final class SglangAdapter extends EngineAdapter {
  private static final String RANK = "X-Data-Parallel-Rank";

  private final String scheme;

  SglangAdapter(String name, String scheme) {
    super(
        name,
        new Fields(
            RANK,
            "rid",
            Placement.RANK,
            "usage.prompt_tokens_details.cached_tokens with --enable-cache-report"));
    this.scheme = scheme;
  }

  @Override
  public Adapted adapt(WorkerRank target, Prompt prompt, Headers headers, byte[] body, String rid) {
    Headers out =
        target.rank().isPresent()
            ? headers.without(RANK).with(RANK, Integer.toString(target.rank().getAsInt()))
            : headers;
    String own = prompt.requestId();
    if (own != null || !prompt.single() || !isObject(body)) {
      return new Adapted(out, body, own);
    }
    return new Adapted(out, withField(body, "\"rid\":\"" + rid + "\""), rid);
  }

  @Override
  public EngineHashing hashing(Worker worker) {
    String configured = worker.spec().hashing().scheme();
    return hashing(worker, configured == null ? scheme : configured);
  }

  @Override
  public EngineHashing storageHashing(Worker worker) {
    return hashing(worker, "sglang-hicache");
  }

  private static EngineHashing hashing(Worker worker, String scheme) {
    Integer page = worker.blockSize();
    return page == null
        ? EngineHashing.unknown("the page size is not known yet")
        : EngineHashing.known(
            scheme, params(worker, page).eagle(worker.spec().hashing().eagle()).build());
  }
}
