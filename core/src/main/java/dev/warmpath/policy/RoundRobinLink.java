package dev.warmpath.policy;

/** One after another, from the plan's turn on. */
final class RoundRobinLink implements Link {
  @Override
  public String name() {
    return "round_robin";
  }

  @Override
  public boolean score(Board board) {
    int members = board.memberCount();
    int start = (int) (board.plan().turn() % members);
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      int ahead = board.position(i) - start;
      board.score[i] = ahead < 0 ? ahead + members : ahead;
    }
    return true;
  }
}
