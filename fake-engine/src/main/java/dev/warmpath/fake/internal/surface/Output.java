package dev.warmpath.fake.internal.surface;

import org.jspecify.annotations.Nullable;

/**
 * Where the progress of a generation goes: an answer in the protocol of one surface. {@link #step},
 * {@link #end} and {@link #fail} are called by one thread at a time, mostly the rank's.
 */
public interface Output {

  /**
   * Takes new tokens of one sequence, or its end; also of calls that are not streamed.
   *
   * @param generation the call
   * @param item the sequence
   * @param first whether it is the sequence's first step
   */
  void step(Generation generation, Generation.Item item, boolean first);

  /**
   * Takes note that every sequence has ended.
   *
   * @param generation the call
   */
  void end(Generation generation);

  /**
   * Answers with an error in place of what is still missing.
   *
   * @param error the error, as HTTP has it
   * @param event how a stream of events tells of it, or null if it just breaks off
   */
  void fail(ApiError error, @Nullable String event);

  /**
   * Breaks the connection off; where others' requests share it, this one's stream ends with an
   * error.
   */
  default void reset() {
    fail(new ApiError(503, Json.object()), null);
  }

  /**
   * Tells whether a fault will end the answer or has.
   *
   * @return true if the call was counted as failed when it came
   */
  boolean faulty();

  /**
   * Tells whether a fault has ended the answer.
   *
   * @return true if the rest is not wanted
   */
  boolean dead();

  /**
   * Registers what happens if the client goes away before the answer is finished; runs at once if
   * it already has.
   *
   * @param action called at most once, must not block
   */
  void onDisconnect(Runnable action);
}
