package dev.warmpath.knowledge;

import java.time.Duration;

/**
 * For how long what nodes and targets say is believed, and how much of it is kept.
 *
 * @param ttl how long a node or target that registered is alive after it was last heard of; 30 s
 * @param refresh how often each node's pieces are asked for; 30 s, at least 5 s. A node that is
 *     known by its address alone is alive for this and {@code ttl} after its last answer
 * @param pollTimeout how long one such question may take; 5 s
 * @param rest how long a node is left alone after a call of a request failed there; 5 s
 * @param maxNodes nodes that are kept; 256
 * @param maxTargets targets that are kept; 1,024
 * @param maxPiecesPerNode pieces of one node that are kept; 1,000,000
 */
public record RegistrySettings(
    Duration ttl,
    Duration refresh,
    Duration pollTimeout,
    Duration rest,
    int maxNodes,
    int maxTargets,
    int maxPiecesPerNode) {

  private static final Duration LEAST_REFRESH = Duration.ofSeconds(5);

  /** The defaults. */
  public static final RegistrySettings DEFAULT =
      new RegistrySettings(
          Duration.ofSeconds(30),
          Duration.ofSeconds(30),
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          256,
          1_024,
          1_000_000);

  /** Refuses what is not positive; a shorter {@code refresh} than 5 s is read as 5 s. */
  public RegistrySettings {
    positive("ttl", ttl);
    positive("refresh", refresh);
    positive("pollTimeout", pollTimeout);
    if (rest.isNegative()) {
      throw new IllegalArgumentException("rest " + rest + " must be 0 or more");
    }
    if (maxNodes < 1 || maxTargets < 1 || maxPiecesPerNode < 1) {
      throw new IllegalArgumentException("at least one node, target and piece must be kept");
    }
    refresh = refresh.compareTo(LEAST_REFRESH) < 0 ? LEAST_REFRESH : refresh;
  }

  private static void positive(String name, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + " " + value + " must be positive");
    }
  }

  /** These with another {@code ttl}. */
  public RegistrySettings withTtl(Duration value) {
    return new RegistrySettings(
        value, refresh, pollTimeout, rest, maxNodes, maxTargets, maxPiecesPerNode);
  }

  /** These with another {@code refresh}. */
  public RegistrySettings withRefresh(Duration value) {
    return new RegistrySettings(
        ttl, value, pollTimeout, rest, maxNodes, maxTargets, maxPiecesPerNode);
  }

  /** These with another {@code pollTimeout}. */
  public RegistrySettings withPollTimeout(Duration value) {
    return new RegistrySettings(ttl, refresh, value, rest, maxNodes, maxTargets, maxPiecesPerNode);
  }
}
