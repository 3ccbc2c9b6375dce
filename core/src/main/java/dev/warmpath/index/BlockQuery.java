package dev.warmpath.index;

import java.time.Duration;
import java.util.function.IntFunction;

/**
 * A question to a {@link BlockLocator}: who holds the first blocks of a prompt?
 *
 * @param blocks how many blocks the prompt has, or as many as may be asked for
 * @param keys the store's key of each of them, worked out when asked for: a locator that finds
 *     nothing of the first need not look at the rest
 * @param counted whether the prompt is about to be sent, so that the store may count its blocks as
 *     used; false for rehearsals. At most one question of a request is counted
 * @param timeout how long the answer is waited for
 */
public record BlockQuery(int blocks, IntFunction<String> keys, boolean counted, Duration timeout) {

  /** The key of a block, 0-based. */
  public String key(int block) {
    return keys.apply(block);
  }

  /** Sizes only. */
  @Override
  public String toString() {
    return "BlockQuery[" + blocks + " blocks" + (counted ? ", counted]" : "]");
  }
}
