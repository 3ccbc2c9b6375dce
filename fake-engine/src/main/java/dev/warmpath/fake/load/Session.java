package dev.warmpath.fake.load;

import java.util.List;

/**
 * A conversation: turns sent one after another, each with the whole history in front. One-shot
 * requests are sessions of one turn.
 *
 * @param id names it; a client may use it as session key
 * @param startMillis when its first turn is due in an open loop
 * @param system the system prompt, empty for none
 * @param turns the turns
 */
public record Session(String id, double startMillis, String system, List<Turn> turns) {
  /** Copies {@code turns}. */
  public Session {
    turns = List.copyOf(turns);
  }

  /** Sizes only. */
  @Override
  public String toString() {
    return "Session[" + id + ", " + turns.size() + " turns]";
  }
}
