package dev.warmpath.grpc.internal;

import dev.warmpath.api.StreamEvent;
import java.util.function.Consumer;

/**
 * Makes of a call's messages what an HTTP worker would have answered: events of a stream, or one
 * JSON document. Not for use by several threads.
 *
 * @param <R> the call's response message
 */
public interface Answer<R> {
  /**
   * Takes in a message.
   *
   * @param events receives what it makes of a stream
   * @throws EngineErrorException when the engine reports in it that it failed
   */
  void take(R message, Consumer<StreamEvent> events) throws EngineErrorException;

  /**
   * The call has ended well.
   *
   * @param events receives what is left to say in a stream
   * @throws EngineErrorException when the answer is not complete
   */
  void end(Consumer<StreamEvent> events) throws EngineErrorException;

  /** The whole answer as JSON, once it ended; of calls that do not stream. */
  byte[] body();

  /** Its HTTP status; 200 unless the engine says otherwise. */
  default int status() {
    return 200;
  }

  /** Whether nothing more is wanted although the call goes on. */
  default boolean satisfied() {
    return false;
  }
}
