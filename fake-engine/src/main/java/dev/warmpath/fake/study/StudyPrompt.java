package dev.warmpath.fake.study;

import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import java.util.Arrays;

/**
 * One request as the study's workers and policies see it: lengths, and which blocks are equal.
 *
 * @param family the conversation it belongs to, or for a trace's row the rows it shares blocks with
 * @param turn its place in the conversation, from 0
 * @param promptTokens length of the prompt, at least 1
 * @param outputTokens length of the answer, at least 1
 * @param blocks the prompt's full blocks by identity; one stands for everything up to its end. Not
 *     to be changed
 * @param stored the blocks that are in a worker's cache when the answer has ended: {@code blocks},
 *     and behind them those of the answer if the conversation goes on with it. Not to be changed
 * @param blockTokens tokens of a block
 */
record StudyPrompt(
    int family,
    int turn,
    int promptTokens,
    int outputTokens,
    int[] blocks,
    int[] stored,
    int blockTokens) {

  /** Reads a turn of a session. */
  static StudyPrompt of(int family, TraceSession session, int turn) {
    TraceRequest request = session.turns().get(turn);
    return of(
        family,
        turn,
        request.inputTokens(),
        Math.max(1, request.outputTokens()),
        session.ids(turn),
        request.hashBlockTokens());
  }

  /**
   * Makes a prompt of identities.
   *
   * @param ids one per block of the prompt, the last maybe partial; more of them are the answer's
   */
  static StudyPrompt of(
      int family, int turn, int promptTokens, int outputTokens, long[] ids, int blockTokens) {
    int[] blocks = new int[promptTokens / blockTokens];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = Math.toIntExact(ids[i]);
    }
    int[] stored = blocks;
    if (ids.length > (promptTokens + blockTokens - 1) / blockTokens) {
      int full = Math.min(ids.length, (promptTokens + outputTokens) / blockTokens);
      stored = Arrays.copyOf(blocks, Math.max(blocks.length, full));
      for (int i = blocks.length; i < full; i++) {
        stored[i] = Math.toIntExact(ids[i]);
      }
    }
    return new StudyPrompt(family, turn, promptTokens, outputTokens, blocks, stored, blockTokens);
  }

  /** Blocks that prompt and answer take. */
  int wholeBlocks() {
    return (promptTokens + outputTokens + blockTokens - 1) / blockTokens;
  }

  /** How many of so many leading blocks can be used: one token of a prompt is always computed. */
  int usable(int matchedBlocks) {
    return (long) matchedBlocks * blockTokens >= promptTokens ? matchedBlocks - 1 : matchedBlocks;
  }

  /** Sizes only. */
  @Override
  public String toString() {
    return "StudyPrompt[" + promptTokens + " -> " + outputTokens + " tokens]";
  }
}
