package dev.warmpath.prompt;

import dev.warmpath.api.Headers;
import dev.warmpath.hash.MultimodalKeyStyle;
import dev.warmpath.worker.KvHashing;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;

/**
 * vLLM: rank in header {@code X-data-parallel-rank}, id in header {@code X-Request-Id}. Which of
 * its hash algorithms runs, and with which seed, it tells nobody: that is unknown until it is
 * configured or {@linkplain EngineHashing#confirm confirmed}. Under context parallelism its blocks
 * grow by the number of ranks.
 */
final class VllmAdapter extends EngineAdapter {
  private static final String RANK = "X-data-parallel-rank";
  private static final String ID = "X-Request-Id";

  VllmAdapter() {
    super(
        "vllm",
        new Fields(
            RANK,
            ID,
            Placement.BOTH,
            "usage.prompt_tokens_details.cached_tokens with --enable-prompt-tokens-details"));
  }

  @Override
  public Adapted adapt(WorkerRank target, Prompt prompt, Headers headers, byte[] body, String rid) {
    Headers out = headers;
    if (target.rank().isPresent()) {
      out = out.without(RANK).with(RANK, Integer.toString(target.rank().getAsInt()));
    }
    String own = out.get(ID);
    return own != null ? new Adapted(out, body, own) : new Adapted(out.with(ID, rid), body, rid);
  }

  @Override
  public EngineHashing hashing(Worker worker) {
    KvHashing configured = worker.spec().hashing();
    String scheme = configured.scheme();
    if (scheme == null) {
      return EngineHashing.unknown(
          "algorithm and seed are neither configured nor confirmed by an event");
    }
    Integer block = worker.blockSize();
    Integer ranks = configured.contextParallel();
    int effective = Math.multiplyExact(block == null ? 16 : block, ranks == null ? 1 : ranks);
    return EngineHashing.known(
        scheme,
        params(worker, effective)
            .multimodalKeyStyle(
                configured.bareMultimodalKeys() ? MultimodalKeyStyle.BARE : MultimodalKeyStyle.PAIR)
            .build());
  }
}
