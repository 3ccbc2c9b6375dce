package dev.warmpath.fake.study;

/**
 * Consistent hashing with bounded loads: the first worker in the order of the key, which is the
 * prompt's first so many tokens, whose load does not exceed 1.25 times the mean as this client
 * knows them.
 *
 * @param keyTokens how much of the prompt is the key
 */
record BoundedHash(int keyTokens) implements Baseline {
  private static final double BOUND = 1.25;

  @Override
  public int choose(StudyClient client, StudyPrompt prompt) {
    int[] blocks = prompt.blocks();
    int depth = Math.min(Math.max(1, keyTokens / prompt.blockTokens()), blocks.length);
    long key = depth == 0 ? client.random().nextLong() : blocks[depth - 1];
    int total = 1;
    for (int worker = 0; worker < client.workers(); worker++) {
      total += client.load(worker);
    }
    double most = Math.ceil(BOUND * total / client.workers());
    int best = -1;
    long weight = 0;
    for (int worker = 0; worker < client.workers(); worker++) {
      long is = Rendezvous.weight(key, worker);
      if (client.load(worker) + 1 <= most && (best < 0 || is > weight)) {
        best = worker;
        weight = is;
      }
    }
    return best;
  }
}
