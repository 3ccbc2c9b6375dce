package dev.warmpath.index.kv;

import java.time.Duration;

/**
 * How the client listens to engines' KV events.
 *
 * @param budgetBytes what the engines' hashes may take up in all; see {@link
 *     dev.warmpath.index.KvEventIndex}
 * @param waitingMessages how many messages of a rank may wait to be taken in; beyond that the
 *     engine drops some, and they are asked for again
 * @param replayTimeout how long a replay may be silent before it is given up
 * @param silence how long a rank may be out of reach before what it told is dropped, and guessed
 *     again
 */
public record KvEventSettings(
    long budgetBytes, int waitingMessages, Duration replayTimeout, Duration silence) {
  /** 64 MB, 10,000 messages, 5 s and 10 s. */
  public static final KvEventSettings DEFAULT =
      new KvEventSettings(64L << 20, 10_000, Duration.ofSeconds(5), Duration.ofSeconds(10));

  /** Checks the ranges. */
  public KvEventSettings {
    if (budgetBytes < 64 << 10) {
      throw new IllegalArgumentException(
          "a budget of " + budgetBytes + " bytes for KV events: use 64 KB or more");
    }
    if (waitingMessages < 1) {
      throw new IllegalArgumentException(
          waitingMessages + " waiting messages of KV events: use 1 or more");
    }
    check("replay timeout", replayTimeout);
    check("silence", silence);
  }

  private static void check(String name, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + " " + value + " of KV events must be positive");
    }
  }

  /** These settings with another budget. */
  public KvEventSettings withBudgetBytes(long bytes) {
    return new KvEventSettings(bytes, waitingMessages, replayTimeout, silence);
  }

  /** These settings with another bound of waiting messages. */
  public KvEventSettings withWaitingMessages(int messages) {
    return new KvEventSettings(budgetBytes, messages, replayTimeout, silence);
  }

  /** These settings with another replay timeout. */
  public KvEventSettings withReplayTimeout(Duration timeout) {
    return new KvEventSettings(budgetBytes, waitingMessages, timeout, silence);
  }

  /** These settings with another silence. */
  public KvEventSettings withSilence(Duration longest) {
    return new KvEventSettings(budgetBytes, waitingMessages, replayTimeout, longest);
  }
}
