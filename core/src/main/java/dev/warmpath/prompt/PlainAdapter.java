package dev.warmpath.prompt;

import dev.warmpath.api.Headers;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;

/** An engine that is not known (yet): requests go as they are. */
final class PlainAdapter extends EngineAdapter {
  PlainAdapter() {
    super("unknown", new Fields(null, null, Placement.NONE, null));
  }

  @Override
  public Adapted adapt(WorkerRank target, Prompt prompt, Headers headers, byte[] body, String rid) {
    return new Adapted(headers, body, null);
  }

  @Override
  public EngineHashing hashing(Worker worker) {
    return EngineHashing.unknown("the engine is not known");
  }
}
