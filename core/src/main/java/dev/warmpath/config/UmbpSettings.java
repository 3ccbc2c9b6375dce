package dev.warmpath.config;

/**
 * The UMBP master that a configuration names.
 *
 * @param master {@code host:port}, {@code grpc://host:port} or {@code grpcs://host:port}
 * @param maxInFlight how many look-ups may be under way; beyond it requests are routed without one
 * @param hitCounting whether the master counts the blocks of requests that are sent as used
 */
public record UmbpSettings(String master, int maxInFlight, boolean hitCounting) {
  /** 32 look-ups at once. */
  public static final int DEFAULT_MAX_IN_FLIGHT = 32;
}
