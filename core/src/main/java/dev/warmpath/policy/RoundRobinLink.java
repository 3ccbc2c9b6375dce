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
    int next = 0;
    for (int k = 0; k < members && next < board.liveCount(); k++) {
      int i = board.member(k);
      if (i == board.live(next)) {
        next++;
        board.score[i] = k < start ? k - start + members : k - start;
      }
    }
    return true;
  }
}
