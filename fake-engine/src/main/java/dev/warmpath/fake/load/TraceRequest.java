package dev.warmpath.fake.load;

import java.util.Objects;

/**
 * One request as a trace has it: when it comes, how long it is and which blocks it is made of, and
 * nothing of its text. It is what workloads are drawn as and what traces are read into; a live run
 * makes text of it, a run in virtual time makes tokens of it, and both share prefixes where the ids
 * do.
 *
 * @param arrivalMs when it is due; for a later turn of a session the earliest time, if answers took
 *     none
 * @param sessionId the conversation it belongs to; requests of one session follow one another
 * @param delayAfterPreviousMs time between the end of the session's previous answer and this
 *     request; 0 for a session's first
 * @param inputTokens length of the whole prompt, what was said before included
 * @param outputTokens length of the answer
 * @param hashIds one id for each {@code hashBlockTokens} of the prompt, the last block maybe
 *     partial; an id stands for its block and everything in front of it. The array is not copied;
 *     nobody may change it
 * @param hashBlockTokens tokens of a block
 * @param program what the session is a run of, such as an agent's program, a document or a group of
 *     prompts, which usually share a prefix; empty where nothing is known
 */
public record TraceRequest(
    double arrivalMs,
    String sessionId,
    double delayAfterPreviousMs,
    int inputTokens,
    int outputTokens,
    long[] hashIds,
    int hashBlockTokens,
    String program) {

  /** Tokens of a block in Mooncake's traces. */
  public static final int MOONCAKE_BLOCK_TOKENS = 512;

  /** Checks the ranges, and that the ids cover the prompt. */
  public TraceRequest {
    Objects.requireNonNull(sessionId, "sessionId");
    Objects.requireNonNull(program, "program");
    if (inputTokens < 1 || outputTokens < 0 || hashBlockTokens < 1) {
      throw new IllegalArgumentException(
          "inputTokens and hashBlockTokens must be at least 1, outputTokens at least 0");
    }
    if (!(delayAfterPreviousMs >= 0) || !Double.isFinite(arrivalMs)) {
      throw new IllegalArgumentException("a delay must be at least 0, an arrival a number");
    }
    if (hashIds.length != (inputTokens + hashBlockTokens - 1) / hashBlockTokens) {
      throw new IllegalArgumentException(
          inputTokens
              + " tokens in blocks of "
              + hashBlockTokens
              + " do not have "
              + hashIds.length
              + " hash ids");
    }
  }

  TraceRequest at(double newArrivalMs, double newDelayMs) {
    return new TraceRequest(
        newArrivalMs,
        sessionId,
        newDelayMs,
        inputTokens,
        outputTokens,
        hashIds,
        hashBlockTokens,
        program);
  }

  TraceRequest of(long[] newHashIds) {
    return new TraceRequest(
        arrivalMs,
        sessionId,
        delayAfterPreviousMs,
        inputTokens,
        outputTokens,
        newHashIds,
        hashBlockTokens,
        program);
  }

  /**
   * Tells whether this prompt begins with all of an earlier one and its answer, as the next turn of
   * a chat does.
   */
  boolean continues(TraceRequest earlier) {
    int full = earlier.inputTokens / hashBlockTokens;
    if (hashBlockTokens != earlier.hashBlockTokens
        || inputTokens <= earlier.inputTokens + earlier.outputTokens
        || hashIds.length < full) {
      return false;
    }
    for (int i = 0; i < full; i++) {
      if (hashIds[i] != earlier.hashIds[i]) {
        return false;
      }
    }
    return true;
  }

  /** Sizes only. */
  @Override
  public String toString() {
    return "TraceRequest["
        + sessionId
        + " at "
        + arrivalMs
        + " ms, "
        + inputTokens
        + " + "
        + outputTokens
        + " tokens]";
  }
}
