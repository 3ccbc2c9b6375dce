package dev.warmpath.grpc.internal;

import dev.warmpath.api.Usage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of one call of one service. Not for use by several threads.
 *
 * @param <R> the service's response message
 */
interface WireReader<R> {
  /**
   * Reads a message.
   *
   * @throws EngineErrorException when it says that the engine failed
   */
  void read(R message, Consumer<Delta> deltas) throws EngineErrorException;

  /** The tokens of the prompt and those found in a cache; null where it was not told. */
  Usage promptUsage();

  /** What the connector hands over to the next worker, as JSON; null where there is nothing. */
  default @Nullable String kvTransferParams() {
    return null;
  }
}
