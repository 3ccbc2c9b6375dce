package dev.warmpath;

import dev.warmpath.prompt.Prompt;

/** The client's own blocks, which are of one size whatever the engines' are. */
final class PromptBlocks {
  /** Tokens of a block. */
  static final int TOKENS = Prompt.CLIENT_BLOCK_TOKENS;

  private PromptBlocks() {}

  /**
   * Prompt tokens that an engine will find in its cache: whole blocks of its own, and never the
   * whole prompt, whose last token it has to compute to go on from.
   *
   * @param blocks the client's blocks that it is believed to hold
   * @param tokens the prompt's tokens
   * @param engineBlock the tokens of the engine's block, 0 where that is not known
   */
  static int found(int blocks, int tokens, int engineBlock) {
    int held = Math.min(blocks * TOKENS, tokens - 1);
    if (held <= 0) {
      return 0;
    }
    return engineBlock <= 1 ? held : held / engineBlock * engineBlock;
  }
}
