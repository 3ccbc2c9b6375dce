package dev.warmpath.fake.study;

/** What a client has sent where within the last two minutes. */
final class FadingHoldings implements Holdings {
  private static final double LIFE_MS = 120_000;

  private final LongMap holders = new LongMap();
  private final LongMap sentMs = new LongMap();

  @Override
  public long holders(int block, double nowMs) {
    long live = holders.get(block, 0);
    for (long bits = live; bits != 0; bits &= bits - 1) {
      int worker = Long.numberOfTrailingZeros(bits);
      if (nowMs - sentMs.get(key(block, worker), 0) > LIFE_MS) {
        live &= ~(1L << worker);
      }
    }
    return live;
  }

  private static long key(int block, int worker) {
    return (long) block * Long.SIZE + worker;
  }

  @Override
  public void placed(StudyPrompt prompt, int worker, double nowMs) {
    for (int block : prompt.blocks()) {
      holders.put(block, holders.get(block, 0) | 1L << worker);
      sentMs.put(key(block, worker), (long) nowMs);
    }
  }
}
