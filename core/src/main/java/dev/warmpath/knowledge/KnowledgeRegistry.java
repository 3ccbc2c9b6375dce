package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.warmpath.transport.KnowledgeTransport.Piece;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes and targets there are and what they said of themselves: by registering and heartbeats
 * ({@link KnowledgeControlPlane}), or by answering questions ({@link #addNode}).
 *
 * <p>A field that a report leaves out keeps its value, and one that was never reported is unknown;
 * neither is ever zero. Who isn't heard of for the time to live is hidden, and comes back with its
 * next sign of life. What nodes have is the union over all of them, whatever each has.
 *
 * <p>Thread safe. {@link #catalogue()} is one read of a snapshot: it never waits, neither for a
 * node nor for a lock.
 */
public final class KnowledgeRegistry {

  /** Of an id, a host, a path or a tag. */
  static final int LONGEST_TEXT = 512;

  private final RegistrySettings settings;
  private final InstantSource clock;
  private final LongSupplier ticker;

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, NodeEntry> nodes = new LinkedHashMap<>(); // under lock
  private final Map<String, TargetEntry> targets = new LinkedHashMap<>(); // under lock
  private KnowledgeCatalogue union = KnowledgeCatalogue.EMPTY; // under lock

  private volatile Published published = new Published(KnowledgeCatalogue.EMPTY, 0, Long.MAX_VALUE);
  private volatile Targets publishedTargets = new Targets(0, List.of());
  private volatile Consumer<String> onNode = id -> {};

  /**
   * What decisions read.
   *
   * @param catalogue the nodes that serve, with what they have
   * @param atNanos when it was made
   * @param forNanos after which time somebody in it may have died, or come back from a rest
   */
  private record Published(KnowledgeCatalogue catalogue, long atNanos, long forNanos) {}

  /**
   * The targets that registered.
   *
   * @param version another one for each change
   * @param entries in the order in which they came, those that are dead too
   */
  record Targets(long version, List<TargetEntry> entries) {}

  /** What a registry made of the system's clock. */
  public KnowledgeRegistry(RegistrySettings settings) {
    this(settings, InstantSource.system(), System::nanoTime);
  }

  /**
   * An empty registry.
   *
   * @param clock gives the times that views show
   * @param ticker gives the time that counts, in nanoseconds
   */
  public KnowledgeRegistry(RegistrySettings settings, InstantSource clock, LongSupplier ticker) {
    this.settings = settings;
    this.clock = clock;
    this.ticker = ticker;
  }

  RegistrySettings settings() {
    return settings;
  }

  InstantSource clock() {
    return clock;
  }

  /** Sets who hears of each node that is new or has registered anew; on the changing thread. */
  void onNode(Consumer<String> listener) {
    onNode = listener;
  }

  /**
   * Adds a node that is known by its address alone: it is alive as long as it answers.
   *
   * @param id its id, under which links to it are told
   * @param base its base URL, such as {@code http://10.0.0.7:9101}
   * @throws IllegalArgumentException when the URL has no host, or there are too many nodes
   */
  public void addNode(String id, URI base) {
    String host = base.getHost();
    if (host == null || base.getScheme() == null) {
      throw new IllegalArgumentException("node " + id + " needs a URL with a host, not " + base);
    }
    int port =
        base.getPort() >= 0
            ? base.getPort()
            : base.getScheme().equalsIgnoreCase("https") ? 443 : 80;
    Registration said =
        new Registration(
            id,
            host,
            port,
            List.of(),
            List.of(),
            1,
            JsonNodeFactory.instance.objectNode(),
            clock.instant());
    if (!putNode(said, base, true)) {
      throw new IllegalArgumentException("more than " + settings.maxNodes() + " nodes");
    }
  }

  /** Takes a node in that registers itself; false where there is no room. */
  boolean register(Registration said) {
    return putNode(said, baseOf(said.host(), said.port()), false);
  }

  /**
   * The base URL of a node that registers.
   *
   * @throws IllegalArgumentException if the host is none
   */
  static URI baseOf(String host, int port) {
    return URI.create("http://" + bracketed(host) + ":" + port);
  }

  private static String bracketed(String host) {
    return host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host;
  }

  private boolean putNode(Registration said, URI base, boolean polled) {
    lock.lock();
    try {
      NodeEntry old = nodes.get(said.id());
      if (old == null && !roomForNode()) {
        return false;
      }
      // What it reported of its load was another life's; what it has is asked for at once.
      KnowledgeNode node =
          new KnowledgeNode(
              said.id(),
              KnowledgeNode.addressOf(said.host(), said.port()),
              old == null ? Map.of() : old.node().items(),
              NodeLoad.UNKNOWN,
              KnowledgeJson.truthy(said.meta().path("overloaded")));
      Registration kept = old == null ? said : said.since(old.said().since());
      NodeEntry entry =
          new NodeEntry(kept, base, polled, node, Instant.EPOCH, 0, 0, 0, false, null, null);
      nodes.put(
          said.id(), polled ? entry : entry.seen(clock.instant(), now(), settings.ttl().toNanos()));
      merge();
      publish();
    } finally {
      lock.unlock();
    }
    onNode.accept(said.id());
    return true;
  }

  /** Makes room by forgetting who has been dead for longest. */
  private boolean roomForNode() {
    if (nodes.size() < settings.maxNodes()) {
      return true;
    }
    long now = now();
    String longest = null;
    long age = -1;
    for (NodeEntry entry : nodes.values()) {
      if (!entry.polled() && !entry.alive(now) && now - entry.seenNanos() > age) {
        age = now - entry.seenNanos();
        longest = entry.said().id();
      }
    }
    return longest != null && nodes.remove(longest) != null;
  }

  /**
   * Takes a sign of life of a node in.
   *
   * @param load what it reports; empty fields keep their values
   * @return false where no such node registered
   */
  public boolean heartbeat(String node, NodeLoad load) {
    return change(
        node,
        entry -> {
          KnowledgeNode was = entry.node();
          KnowledgeNode is =
              new KnowledgeNode(
                  was.id(),
                  was.address(),
                  was.items(),
                  was.load().updatedBy(load),
                  was.declaredOverloaded());
          return entry.with(is).seen(clock.instant(), now(), life(entry));
        });
  }

  private long life(NodeEntry entry) {
    Duration ttl = settings.ttl();
    return (entry.polled() ? ttl.plus(settings.refresh()) : ttl).toNanos();
  }

  /** Forgets a node; no error where there is none. */
  public void removeNode(String node) {
    lock.lock();
    try {
      if (nodes.remove(node) != null) {
        merge();
        publish();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes in what a node has. Of pieces with the same id the last one counts. */
  void pieces(String node, Collection<Piece> told) {
    Map<String, KnowledgeItem> items = new HashMap<>();
    for (Piece piece : told) {
      if (items.size() < settings.maxPiecesPerNode()) {
        items.put(
            KnowledgeIds.canonical(piece.id()),
            new KnowledgeItem(Math.max(0, piece.length()), piece.kvReady()));
      }
    }
    lock.lock();
    try {
      NodeEntry entry = nodes.get(node);
      if (entry == null) {
        return;
      }
      KnowledgeNode was = entry.node();
      boolean same = was.items().equals(items);
      KnowledgeNode is =
          same
              ? was
              : new KnowledgeNode(
                  was.id(), was.address(), items, was.load(), was.declaredOverloaded());
      NodeEntry heard = entry.polled() ? entry.seen(clock.instant(), now(), life(entry)) : entry;
      nodes.put(node, heard.with(is).well(clock.instant()));
      if (!same) {
        merge();
      }
      publish();
    } finally {
      lock.unlock();
    }
  }

  /** A question of the poller's failed: that alone changes nothing of what is believed. */
  void troubled(String node, String why) {
    boolean unused = change(node, entry -> entry.troubled(why));
  }

  /** A call of a request failed: the node is left alone for a while. */
  void failed(String node, String why) {
    long rest = settings.rest().toNanos();
    boolean unused = change(node, entry -> entry.restingUntil(now() + rest, why));
  }

  private boolean change(String node, UnaryOperator<NodeEntry> change) {
    lock.lock();
    try {
      NodeEntry entry = nodes.get(node);
      if (entry == null) {
        return false;
      }
      nodes.put(node, change.apply(entry));
      publish();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Takes a target in, or what it says anew; false where there is no room. */
  boolean registerTarget(TargetEntry target) {
    lock.lock();
    try {
      TargetEntry old = targets.get(target.said().id());
      if (old == null && !roomForTarget()) {
        return false;
      }
      targets.put(target.said().id(), old == null ? target : renewed(target, old));
      publishTargets();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private static TargetEntry renewed(TargetEntry target, TargetEntry old) {
    return new TargetEntry(
        target.said().since(old.said().since()),
        target.capacity(),
        target.instances(),
        target.kvMemoryGb(),
        target.kvPolicy(),
        target.inFlight(),
        target.requestsPerSecond(),
        target.gpuUtilisation(),
        target.links(),
        target.pool() == null ? old.pool() : target.pool(),
        target.pool() == null ? old.poolAt() : target.poolAt(),
        target.seen(),
        target.seenNanos());
  }

  private boolean roomForTarget() {
    if (targets.size() < settings.maxTargets()) {
      return true;
    }
    long now = now();
    String longest = null;
    long age = settings.ttl().toNanos();
    for (TargetEntry entry : targets.values()) {
      if (now - entry.seenNanos() > age) {
        age = now - entry.seenNanos();
        longest = entry.said().id();
      }
    }
    return longest != null && targets.remove(longest) != null;
  }

  /** Changes what is known of a target that registered; false where none did. */
  boolean updateTarget(String id, UnaryOperator<TargetEntry> change) {
    lock.lock();
    try {
      TargetEntry entry = targets.get(id);
      if (entry == null) {
        return false;
      }
      targets.put(id, change.apply(entry));
      publishTargets();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Forgets a target; no error where there is none. */
  public void removeTarget(String target) {
    lock.lock();
    try {
      targets.remove(target);
      publishTargets();
    } finally {
      lock.unlock();
    }
  }

  /** The nodes that are alive and not resting, and what they have. */
  public KnowledgeCatalogue catalogue() {
    Published now = published;
    if (now() - now.atNanos() >= now.forNanos() && lock.tryLock()) {
      try {
        publish();
        now = published;
      } finally {
        lock.unlock();
      }
    }
    return now.catalogue();
  }

  /** Where a node is asked; null where it isn't known. */
  @Nullable URI baseOf(String node) {
    NodeEntry entry = entry(node);
    return entry == null ? null : entry.base();
  }

  @Nullable NodeEntry entry(String node) {
    lock.lock();
    try {
      return nodes.get(node);
    } finally {
      lock.unlock();
    }
  }

  /** All nodes, those that are dead too, in the order in which they came. */
  List<NodeEntry> nodeEntries() {
    lock.lock();
    try {
      return List.copyOf(nodes.values());
    } finally {
      lock.unlock();
    }
  }

  /** All targets, likewise. */
  List<TargetEntry> targetEntries() {
    return publishedTargets.entries();
  }

  /** The same with their version. */
  Targets versionedTargets() {
    return publishedTargets;
  }

  /** Under the lock, as {@link #publish}. */
  private void publishTargets() {
    publishedTargets = new Targets(publishedTargets.version() + 1, List.copyOf(targets.values()));
  }

  boolean alive(NodeEntry node) {
    return node.alive(now());
  }

  boolean alive(TargetEntry target) {
    return target.alive(now(), settings.ttl().toNanos());
  }

  /** What is known of each node, those that are dead too. */
  public List<NodeStatus> nodes() {
    long now = now();
    List<NodeStatus> views = new ArrayList<>();
    for (NodeEntry entry : nodeEntries()) {
      KnowledgeNode node = entry.node();
      views.add(
          new NodeStatus(
              node.id(),
              node.address(),
              node.items().size(),
              node.load(),
              entry.alive(now),
              entry.alive(now) && !entry.serving(now),
              entry.lifeNanos() == 0 ? Optional.empty() : Optional.of(entry.seen()),
              Optional.ofNullable(entry.trouble())));
    }
    return views;
  }

  /** What is known of each target that registered, those that are dead too. */
  public List<TargetStatus> targets() {
    List<TargetStatus> views = new ArrayList<>();
    for (TargetEntry entry : targetEntries()) {
      views.add(
          new TargetStatus(
              entry.target(),
              entry.said().host() + ":" + entry.said().port(),
              alive(entry),
              entry.seen()));
    }
    return views;
  }

  /** The union of what nodes have; under the lock. */
  private void merge() {
    union = KnowledgeCatalogue.of(nodes.values().stream().map(NodeEntry::node).toList());
  }

  /** Under the lock. */
  private void publish() {
    long now = now();
    long until = Long.MAX_VALUE;
    List<KnowledgeNode> serving = new ArrayList<>(nodes.size());
    for (NodeEntry entry : nodes.values()) {
      until = Math.min(until, entry.changesIn(now));
      if (entry.serving(now)) {
        serving.add(entry.node());
      }
    }
    published = new Published(union.showing(serving), now, until);
  }

  long now() {
    return ticker.getAsLong();
  }

  /** Nothing reported. */
  static final TargetReport SILENT =
      new TargetReport(OptionalInt.empty(), OptionalDouble.empty(), OptionalDouble.empty());

  /** The load that a target reports; what is empty keeps its value. */
  record TargetReport(
      OptionalInt inFlight, OptionalDouble requestsPerSecond, OptionalDouble gpuUtilisation) {

    TargetEntry applyTo(TargetEntry entry, Instant seen, long seenNanos) {
      return new TargetEntry(
          entry.said(),
          entry.capacity(),
          entry.instances(),
          entry.kvMemoryGb(),
          entry.kvPolicy(),
          inFlight.isPresent() ? inFlight : entry.inFlight(),
          requestsPerSecond.isPresent() ? requestsPerSecond : entry.requestsPerSecond(),
          gpuUtilisation.isPresent() ? gpuUtilisation : entry.gpuUtilisation(),
          entry.links(),
          entry.pool(),
          entry.poolAt(),
          seen,
          seenNanos);
    }
  }
}
