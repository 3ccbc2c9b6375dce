package dev.warmpath.fake.study;

/**
 * A fleet of the study and its clients.
 *
 * @param workers how many workers, 64 at most
 * @param cacheTokens what each one's cache holds, a million in the study
 * @param clients independent clients
 * @param sticky whether a conversation stays with one client; otherwise each request comes to one
 *     at random, which is the worst case
 * @param pollMs time between a client's looks at a worker, 250 in the study; each pair of the two
 *     has a random phase of its own
 * @param eventDelayMs how long a cache's change takes to the clients that subscribe to them, 10 in
 *     the study
 * @param users users of a closed loop for each worker; 0 is an open loop
 * @param seed decides clients, phases and the policies' chance
 */
public record StudySettings(
    int workers,
    int cacheTokens,
    int clients,
    boolean sticky,
    double pollMs,
    double eventDelayMs,
    int users,
    long seed) {

  /** The study's own fleet: 16 workers, a million tokens each, one client, seed 1. */
  public static final StudySettings STUDY =
      new StudySettings(16, 1_000_000, 1, false, 250, 10, 0, 1);

  /** Network time each way, in milliseconds. */
  public static final double NETWORK_MS = 0.5;

  /** Checks the ranges. */
  public StudySettings {
    if (workers < 1 || workers > Long.SIZE || clients < 1 || cacheTokens < 1 || users < 0) {
      throw new IllegalArgumentException(
          "workers must be 1 to 64, clients and cacheTokens at least 1, users at least 0");
    }
    if (!(pollMs > 0) || !(eventDelayMs >= 0)) {
      throw new IllegalArgumentException("pollMs must be positive, eventDelayMs not negative");
    }
  }

  /** Returns these settings with so many clients. */
  public StudySettings withClients(int value) {
    return new StudySettings(
        workers, cacheTokens, value, sticky, pollMs, eventDelayMs, users, seed);
  }

  /** Returns these settings with another seed. */
  public StudySettings withSeed(long value) {
    return new StudySettings(
        workers, cacheTokens, clients, sticky, pollMs, eventDelayMs, users, value);
  }

  /** Returns these settings with caches of so many tokens. */
  public StudySettings withCacheTokens(int value) {
    return new StudySettings(workers, value, clients, sticky, pollMs, eventDelayMs, users, seed);
  }

  /** Returns these settings with so much time between polls. */
  public StudySettings withPollMs(double value) {
    return new StudySettings(
        workers, cacheTokens, clients, sticky, value, eventDelayMs, users, seed);
  }

  /** Returns these settings with conversations that stay with a client, or don't. */
  public StudySettings withSticky(boolean value) {
    return new StudySettings(
        workers, cacheTokens, clients, value, pollMs, eventDelayMs, users, seed);
  }

  /** Returns these settings with so many workers. */
  public StudySettings withWorkers(int value) {
    return new StudySettings(
        value, cacheTokens, clients, sticky, pollMs, eventDelayMs, users, seed);
  }

  /** Returns these settings with so many users for each worker in a closed loop. */
  public StudySettings withUsers(int value) {
    return new StudySettings(
        workers, cacheTokens, clients, sticky, pollMs, eventDelayMs, value, seed);
  }
}
