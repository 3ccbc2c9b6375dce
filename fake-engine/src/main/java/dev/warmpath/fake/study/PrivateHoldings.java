package dev.warmpath.fake.study;

/** What a client has sent where, forever: it hears of no eviction. */
final class PrivateHoldings implements Holdings {
  private final LongMap holders = new LongMap();

  @Override
  public long holders(int block, double nowMs) {
    return holders.get(block, 0);
  }

  @Override
  public void placed(StudyPrompt prompt, int worker, double nowMs) {
    for (int block : prompt.blocks()) {
      holders.put(block, holders.get(block, 0) | 1L << worker);
    }
  }
}
