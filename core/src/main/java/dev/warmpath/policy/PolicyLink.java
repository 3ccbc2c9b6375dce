package dev.warmpath.policy;

/** An application's own policy as a part of a chain: its first candidate in play is preferred. */
final class PolicyLink implements Link {
  private final RoutingPolicy policy;

  PolicyLink(RoutingPolicy policy) {
    this.policy = policy;
  }

  @Override
  public String name() {
    return policy.name();
  }

  @Override
  public boolean score(Board board) {
    RoutePlan plan = policy.plan(board.context());
    for (Candidate next = plan.next(); next != null; next = plan.next()) {
      int preferred = find(board, next);
      if (preferred >= 0) {
        for (int k = 0; k < board.liveCount(); k++) {
          board.score[board.live(k)] = 1;
        }
        board.score[preferred] = 0;
        return true;
      }
    }
    return false;
  }

  private static int find(Board board, Candidate wanted) {
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      if (board.rank(i).equals(wanted.target())) {
        return i;
      }
    }
    return -1;
  }
}
