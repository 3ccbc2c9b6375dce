package dev.warmpath.fake.study;

/**
 * A rule by which a client picks a worker, one instance for each client. These are
 * re-implementations from public descriptions, not the products they are named after, and they are
 * frozen: what this project's own policies are compared with must not move with them.
 */
interface Baseline {
  /**
   * Picks a worker for a request.
   *
   * @param client what the client knows
   * @param prompt the request
   */
  int choose(StudyClient client, StudyPrompt prompt);

  /**
   * How many leading blocks the last {@link #choose} believed the chosen worker to hold, for
   * policies that count their own outstanding prefill.
   */
  default int believedBlocks() {
    return 0;
  }
}
