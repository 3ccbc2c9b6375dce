package dev.warmpath.fake.load;

import java.time.Duration;

/**
 * How a workload is sent.
 *
 * @param model the model that requests name
 * @param concurrency sessions under way at once in a closed loop; 0 is an open loop, where sessions
 *     begin when they are due, however many are under way
 * @param speedup divides arrival times and delays
 * @param stream whether answers are streamed, without which there is no TTFT
 * @param maxRequests requests at most
 * @param maxOutputTokens answers are cut to this length
 * @param sessionKeys whether requests carry their session's id as session key
 * @param deadline the longest a request may take
 * @param seed picks the client of each request
 * @param documentsApart whether a document is left out of the prompt, and its id said instead: who
 *     routes by knowledge puts it in
 */
public record LoadSettings(
    String model,
    int concurrency,
    double speedup,
    boolean stream,
    int maxRequests,
    int maxOutputTokens,
    boolean sessionKeys,
    Duration deadline,
    long seed,
    boolean documentsApart) {

  /**
   * Settings with documents in the prompts.
   *
   * @param model the model that requests name
   * @param concurrency sessions under way at once, or 0
   * @param speedup divides arrival times and delays
   * @param stream whether answers are streamed
   * @param maxRequests requests at most
   * @param maxOutputTokens answers are cut to this length
   * @param sessionKeys whether requests carry their session's id
   * @param deadline the longest a request may take
   * @param seed picks the client of each request
   */
  public LoadSettings(
      String model,
      int concurrency,
      double speedup,
      boolean stream,
      int maxRequests,
      int maxOutputTokens,
      boolean sessionKeys,
      Duration deadline,
      long seed) {
    this(
        model,
        concurrency,
        speedup,
        stream,
        maxRequests,
        maxOutputTokens,
        sessionKeys,
        deadline,
        seed,
        false);
  }

  /**
   * Returns these settings with documents apart.
   *
   * @return the copy
   */
  public LoadSettings withDocumentsApart() {
    return new LoadSettings(
        model,
        concurrency,
        speedup,
        stream,
        maxRequests,
        maxOutputTokens,
        sessionKeys,
        deadline,
        seed,
        true);
  }

  /** Checks the ranges. */
  public LoadSettings {
    if (concurrency < 0 || maxRequests < 1 || maxOutputTokens < 1) {
      throw new IllegalArgumentException(
          "concurrency must be at least 0, maxRequests and maxOutputTokens at least 1");
    }
    if (!(speedup > 0)) {
      throw new IllegalArgumentException("speedup " + speedup + " must be positive");
    }
  }
}
