package dev.warmpath.pd;

import dev.warmpath.transport.OutboundRequest;
import java.util.function.Consumer;

/** Makes calls whose answers matter to nobody: aborts and touches. */
@FunctionalInterface
interface PdCalls {
  /**
   * Sends a request and reads its answer away, on another thread.
   *
   * @param done told once whether it was answered with success
   */
  void call(OutboundRequest request, Consumer<Boolean> done);
}
