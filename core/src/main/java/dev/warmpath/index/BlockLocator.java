package dev.warmpath.index;

import java.util.concurrent.CompletableFuture;

/**
 * A store outside of this client that knows which workers hold which blocks, such as a UMBP master.
 * It is asked once for each request, before the policy decides, and never for longer than {@link
 * BlockQuery#timeout}; whatever goes wrong with it, requests are routed without it.
 *
 * <p>Thread safe: many requests ask at once.
 */
public interface BlockLocator extends AutoCloseable {
  /** A short name for decisions and metrics. */
  String name();

  /**
   * Begins to look a prompt up. Must not block, and should answer within the query's timeout: later
   * answers are not heard, and their future is cancelled. How many look-ups are under way is the
   * locator's to limit.
   *
   * @return completes with what was learned; failures are answers, too
   */
  CompletableFuture<BlockAnswer> locate(BlockQuery query);

  /** Ends what is under way and frees everything. The client calls it when it is closed. */
  @Override
  void close();
}
