package dev.warmpath.policy;

/** A random order. */
final class RandomLink implements Link {
  private static final int PURPOSE = 0x7a4d;

  @Override
  public String name() {
    return "random";
  }

  @Override
  public boolean score(Board board) {
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      board.score[i] = (board.chance(PURPOSE, i) >>> 11) * 0x1p-53;
    }
    return true;
  }
}
