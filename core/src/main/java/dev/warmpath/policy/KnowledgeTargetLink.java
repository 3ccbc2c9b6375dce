package dev.warmpath.policy;

import org.jspecify.annotations.Nullable;

/**
 * Those whom {@link KnowledgeChoice} prefers. No opinion where nobody was chosen, or nobody of the
 * chosen is in play: a node or a group that is gone keeps no request from being answered.
 */
final class KnowledgeTargetLink implements Link {
  @Override
  public String name() {
    return "knowledge";
  }

  @Override
  public boolean affinity() {
    return true;
  }

  @Override
  public boolean score(Board board) {
    KnowledgeChoice choice = board.context().knowledge();
    if (!choice.made()) {
      return false;
    }
    boolean any = false;
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      boolean preferred = choice.prefers(board.rank(i));
      board.score[i] = preferred ? 0 : 1;
      any |= preferred;
    }
    return any;
  }

  @Override
  public @Nullable String note(Board board) {
    return board.context().knowledge().note();
  }
}
