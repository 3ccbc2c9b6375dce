package dev.warmpath.fake.umbp;

import dev.warmpath.proto.umbp.ClientStatus;
import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.TierHashes;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The in-memory state of a master: who its nodes are, which of them holds which hash in which
 * tiers, and how often hashes were hit. Entries have no age; they go when their node expires,
 * unregisters or revokes them. Expiry is looked at with every call rather than every 5 s. Thread
 * safe.
 */
final class ExternalIndex {
  private static final Duration HIT_AGE = Duration.ofHours(2);

  private static final class Node {
    final String peerAddress;
    long seenNanos;
    boolean alive = true;

    Node(String peerAddress, long now) {
      this.peerAddress = peerAddress;
      this.seenNanos = now;
    }
  }

  private static final class Hits {
    long total;
    long lastNanos;
  }

  private final LongSupplier ticker;
  private final long expiryNanos;
  private final Random random;
  private final Map<String, Node> nodes = new LinkedHashMap<>();

  /** By hash and node: the tiers' numbers. */
  private final Map<String, Map<String, Set<Integer>>> entries = new HashMap<>();

  private final Map<String, Hits> hits = new HashMap<>();
  private long rejected;

  ExternalIndex(LongSupplier ticker, Duration expiry, long seed) {
    this.ticker = ticker;
    this.expiryNanos = expiry.toNanos();
    this.random = new Random(seed);
  }

  /** Forgets everything, as a restart does. */
  synchronized void clear() {
    nodes.clear();
    entries.clear();
    hits.clear();
  }

  private void expire() {
    long now = ticker.getAsLong();
    nodes.forEach(
        (id, node) -> {
          if (node.alive && now - node.seenNanos > expiryNanos) {
            node.alive = false;
            wipe(id);
          }
        });
    hits.values().removeIf(hit -> now - hit.lastNanos > HIT_AGE.toNanos());
  }

  private void wipe(String node) {
    entries.values().forEach(holders -> holders.remove(node));
    entries.values().removeIf(Map::isEmpty);
  }

  /** Takes a node in; null where that is fine. */
  synchronized @Nullable Status register(String id, String peerAddress) {
    expire();
    Node known = nodes.get(id);
    if (known != null && known.alive) {
      return Status.ALREADY_EXISTS.withDescription(
          "node is already alive and cannot be re-registered");
    }
    nodes.put(id, new Node(peerAddress, ticker.getAsLong()));
    return null;
  }

  synchronized void unregister(String id) {
    nodes.remove(id);
    wipe(id);
  }

  /** Keeps a node alive, or brings it back to life without what it had reported. */
  synchronized ClientStatus heartbeat(String id) {
    expire();
    Node node = nodes.get(id);
    if (node == null) {
      return ClientStatus.CLIENT_STATUS_UNKNOWN;
    }
    node.alive = true;
    node.seenNanos = ticker.getAsLong();
    return ClientStatus.CLIENT_STATUS_ALIVE;
  }

  /** Adds entries; those of a node that is not alive are dropped in silence. */
  synchronized void report(String id, Collection<String> hashes, int tier) {
    expire();
    Node node = nodes.get(id);
    if (node == null || !node.alive) {
      rejected++;
      return;
    }
    for (String hash : hashes) {
      entries
          .computeIfAbsent(hash, made -> new HashMap<>())
          .computeIfAbsent(id, made -> new HashSet<>())
          .add(tier);
    }
  }

  synchronized void revoke(String id, Collection<String> hashes, int tier) {
    for (String hash : hashes) {
      remove(hash, id, tier);
    }
  }

  synchronized void revokeTier(String id, int tier) {
    for (String hash : List.copyOf(entries.keySet())) {
      remove(hash, id, tier);
    }
  }

  synchronized void revokeNode(String id) {
    wipe(id);
  }

  private void remove(String hash, String id, int tier) {
    Map<String, Set<Integer>> holders = entries.get(hash);
    Set<Integer> tiers = holders == null ? null : holders.get(id);
    if (holders == null || tiers == null || !tiers.remove(tier)) {
      return;
    }
    if (tiers.isEmpty()) {
      holders.remove(id);
    }
    if (holders.isEmpty()) {
      entries.remove(hash);
    }
  }

  /**
   * Who holds which of the hashes: nodes in any order, each with its tiers from the fastest on, and
   * in each tier the hashes in the order and as often as they were asked for.
   */
  synchronized List<ExternalKvNodeMatch> match(List<String> hashes, boolean counted) {
    expire();
    Map<String, Map<Integer, List<String>>> found = new HashMap<>();
    for (String hash : hashes) {
      entries
          .getOrDefault(hash, Map.of())
          .forEach(
              (node, tiers) -> {
                for (int tier : tiers) {
                  found
                      .computeIfAbsent(node, made -> new TreeMap<>())
                      .computeIfAbsent(tier, made -> new ArrayList<>())
                      .add(hash);
                }
              });
    }
    if (counted) {
      count(hashes);
    }
    List<ExternalKvNodeMatch> matches = new ArrayList<>();
    found.forEach((node, byTier) -> matches.add(view(node, byTier)));
    Collections.shuffle(matches, random);
    return matches;
  }

  private ExternalKvNodeMatch view(String id, Map<Integer, List<String>> byTier) {
    Node node = nodes.get(id);
    ExternalKvNodeMatch.Builder match =
        ExternalKvNodeMatch.newBuilder()
            .setNodeId(id)
            .setPeerAddress(node == null ? "" : node.peerAddress);
    byTier.forEach(
        (tier, held) ->
            match.addHashesByTier(TierHashes.newBuilder().setTierValue(tier).addAllHashes(held)));
    return match.build();
  }

  private void count(List<String> hashes) {
    for (String hash : new HashSet<>(hashes)) {
      if (entries.containsKey(hash)) {
        Hits of = hits.computeIfAbsent(hash, made -> new Hits());
        of.total++;
        of.lastNanos = ticker.getAsLong();
      }
    }
  }

  /** How often a hash was counted; 0 where never. */
  synchronized long hits(String hash) {
    expire();
    Hits of = hits.get(hash);
    return of == null ? 0 : of.total;
  }

  /** The nodes that are alive. */
  synchronized Set<String> alive() {
    expire();
    Set<String> alive = new HashSet<>();
    nodes.forEach(
        (id, node) -> {
          if (node.alive) {
            alive.add(id);
          }
        });
    return alive;
  }

  /** Hashes that somebody holds. */
  synchronized int size() {
    expire();
    return entries.size();
  }

  /** Reports that were dropped because their node was not alive. */
  synchronized long rejected() {
    return rejected;
  }
}
