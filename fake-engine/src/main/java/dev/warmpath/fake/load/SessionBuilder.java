package dev.warmpath.fake.load;

import java.util.ArrayList;
import java.util.List;

/**
 * Puts a session together from shared blocks in front and blocks of its own behind, turn by turn. A
 * session has one sequence of ids, and every prompt is a beginning of it: so the block in which one
 * prompt ends has the same id in the next, which goes on in it.
 */
final class SessionBuilder {
  private record Sizes(int input, int output, double delayMs) {}

  private final String id;
  private final String program;
  private final double arrivalMs;
  private final BlockIds ids;
  private final List<BlockIds.Run> shared = new ArrayList<>();
  private final List<Sizes> turns = new ArrayList<>();
  private int systemTokens;
  private int documentTokens;

  /** Tokens of everything said so far, the last answer included. */
  private int said;

  SessionBuilder(String id, String program, double arrivalMs, BlockIds ids) {
    this.id = id;
    this.program = program;
    this.arrivalMs = arrivalMs;
    this.ids = ids;
  }

  /** Begins with a system prompt that others share. */
  SessionBuilder system(BlockIds.Run run) {
    systemTokens = run.tokens();
    return shared(run);
  }

  /** Goes on with a document that others share, behind the system prompt. */
  SessionBuilder document(BlockIds.Run run) {
    documentTokens = run.tokens();
    return shared(run);
  }

  /** Goes on with blocks that others share, before the first turn; what ends a block is shared. */
  SessionBuilder shared(BlockIds.Run run) {
    shared.add(run);
    said += run.tokens();
    return this;
  }

  SessionBuilder turn(int messageTokens, int outputTokens, double delayMs) {
    said += Math.max(1, messageTokens);
    turns.add(new Sizes(said, outputTokens, delayMs));
    said += outputTokens;
    return this;
  }

  TraceSession build() {
    long[] all = new long[(said + BlockIds.TOKENS - 1) / BlockIds.TOKENS];
    int at = 0;
    for (BlockIds.Run run : shared) {
      // A shared run that ends inside of a block shares nothing from there on.
      boolean aligned = run.tokens() % BlockIds.TOKENS == 0;
      for (int i = 0; i < run.tokens() / BlockIds.TOKENS; i++) {
        all[at++] = run.first() + i;
      }
      if (!aligned) {
        break;
      }
    }
    long own = ids.take((all.length - at) * BlockIds.TOKENS).first();
    for (int i = at; i < all.length; i++) {
      all[i] = own + i - at;
    }
    List<TraceRequest> requests = new ArrayList<>(turns.size());
    double due = arrivalMs;
    for (Sizes turn : turns) {
      due += turn.delayMs;
      long[] prompt =
          java.util.Arrays.copyOf(all, (turn.input + BlockIds.TOKENS - 1) / BlockIds.TOKENS);
      requests.add(
          new TraceRequest(
              due, id, turn.delayMs, turn.input, turn.output, prompt, BlockIds.TOKENS, program));
    }
    return new TraceSession(id, systemTokens, documentTokens, requests);
  }
}
