package dev.warmpath.fake.study;

/** What a client has sent where, the 500,000 tokens used last for each worker. */
final class RecentHoldings implements Holdings {
  private static final int TOKENS = 500_000;

  private final BlockCache[] recent;

  RecentHoldings(int workers, int blockTokens) {
    recent = new BlockCache[workers];
    for (int i = 0; i < workers; i++) {
      recent[i] = new BlockCache(TOKENS / blockTokens, BlockCache.Listener.NOBODY);
    }
  }

  @Override
  public long holders(int block, double nowMs) {
    long holders = 0;
    for (int worker = 0; worker < recent.length; worker++) {
      holders |= recent[worker].find(block) >= 0 ? 1L << worker : 0;
    }
    return holders;
  }

  @Override
  public void placed(StudyPrompt prompt, int worker, double nowMs) {
    BlockCache of = recent[worker];
    int[] blocks = prompt.blocks();
    for (int i = Math.min(blocks.length, of.capacity()) - 1; i >= 0; i--) {
      int slot = of.find(blocks[i]);
      if (slot < 0) {
        of.take(1);
        slot = of.put(blocks[i]);
      } else {
        of.hold(slot);
      }
      of.release(slot);
    }
  }
}
