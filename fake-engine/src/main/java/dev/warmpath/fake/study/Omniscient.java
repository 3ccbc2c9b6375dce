package dev.warmpath.fake.study;

/**
 * The reference: one who sees every cache, every queue and the end of every pass, and takes the
 * worker with the earliest first token, where this prompt's own prefill counts so many times since
 * it delays others. It does not see the future.
 *
 * @param prefillWeight how often the prompt's prefill counts
 */
record Omniscient(double prefillWeight) implements Baseline {
  /** Milliseconds for an uncached token in a full pass. */
  private static final double TOKEN_MS = 0.0186;

  @Override
  public int choose(StudyClient client, StudyPrompt prompt) {
    StudyFleet fleet = client.fleet();
    return Cheapest.of(
        client.workers(),
        client.random(),
        index -> {
          StudyWorker worker = fleet.worker(index);
          int cached = worker.cachedBlocks(prompt) * prompt.blockTokens();
          return worker.passEndMs()
              - client.nowMs()
              + TOKEN_MS * (fleet.onTheWay(index) + worker.pendingTokens())
              + TOKEN_MS * prefillWeight * (prompt.promptTokens() - cached);
        });
  }
}
