package dev.warmpath.prompt;

import dev.warmpath.api.Headers;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;

/**
 * ATOM: rank in body field {@code data_parallel_rank}; it takes no id. Under decode context
 * parallelism a hash covers a block of every rank, while its events name a single one's size.
 */
final class AtomAdapter extends EngineAdapter {
  private static final String RANK = "data_parallel_rank";

  AtomAdapter() {
    super("atom", new Fields(RANK, null, Placement.NONE, null));
  }

  @Override
  public Adapted adapt(WorkerRank target, Prompt prompt, Headers headers, byte[] body, String rid) {
    return new Adapted(
        headers,
        target.rank().isPresent() && isObject(body)
            ? withField(body, "\"" + RANK + "\":" + target.rank().getAsInt())
            : body,
        null);
  }

  @Override
  public EngineHashing hashing(Worker worker) {
    Integer block = worker.blockSize();
    if (block == null) {
      return EngineHashing.unknown("the block size is not known yet");
    }
    Integer ranks = worker.spec().hashing().contextParallel();
    return EngineHashing.known(
        "atom", params(worker, block).contextParallel(ranks == null ? 1 : ranks).build());
  }
}
