package dev.warmpath.policy;

import java.util.Map;

/** The less loaded of two taken at random (Mitzenmacher 2001). */
final class PowerOfTwoLink implements Link {
  private static final int PURPOSE = 0x92c2;

  @Override
  public String name() {
    return "power_of_two";
  }

  @Override
  public boolean score(Board board) {
    Loads loads = board.loads();
    int count = board.liveCount();
    int one = below(count, board.chance(PURPOSE, 0));
    int other = count == 1 ? one : below(count - 1, board.chance(PURPOSE, 1));
    if (count > 1 && other >= one) {
      other++;
    }
    for (int k = 0; k < count; k++) {
      int i = board.live(k);
      board.score[i] = k == one || k == other ? loads.total(i) : Double.POSITIVE_INFINITY;
    }
    return true;
  }

  /** A number from 0 to below the bound, as the chance decides. */
  static int below(int bound, long chance) {
    return (int) (((chance >>> 32) * bound) >>> 32);
  }

  @Override
  public Map<String, Double> terms(Board board, int candidate) {
    return ShortestQueueLink.loadTerms(board, candidate);
  }
}
