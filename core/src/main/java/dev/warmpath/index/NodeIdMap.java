package dev.warmpath.index;

import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Resolves UMBP nodes, by the first of these that fits:
 *
 * <ol>
 *   <li>an entry for the node's id;
 *   <li>an id that is a worker's address, in any spelling, with {@code #rank} or without;
 *   <li>an id as SGLang makes it, {@code host:dpN:ppN:tpN}: that rank of the worker on that host;
 *   <li>the host of its peer address.
 * </ol>
 *
 * <p>A host names a worker only where it has a single one: neither id nor peer address holds the
 * port that requests go to, so with several servers on a host entries are needed. Hosts are
 * compared as written; no name is looked up.
 */
public final class NodeIdMap implements NodeIdResolver {
  /** SGLang's default node id (sglang {@code umbp_store.py}). */
  private static final Pattern SGLANG = Pattern.compile("(.+):dp(\\d{1,6}):pp\\d{1,6}:tp\\d{1,6}");

  private final Map<String, Target> entries;

  private NodeIdMap(Map<String, Target> entries) {
    this.entries = Map.copyOf(entries);
  }

  /** Starts a map without entries. */
  public static Builder builder() {
    return new Builder();
  }

  @Override
  public @Nullable Target resolve(String nodeId, String peerAddress, Topology topology) {
    Target entry = entries.get(nodeId);
    if (entry != null) {
      return entry;
    }
    Target named = byAddress(nodeId, topology);
    if (named != null) {
      return named;
    }
    Matcher sglang = SGLANG.matcher(nodeId);
    if (sglang.matches()) {
      WorkerId worker = only(sglang.group(1), topology);
      if (worker != null) {
        return new Target(worker, OptionalInt.of(Integer.parseInt(sglang.group(2))));
      }
    }
    int port = peerAddress.lastIndexOf(':');
    WorkerId peer = port <= 0 ? null : only(peerAddress.substring(0, port), topology);
    return peer == null ? null : Target.of(peer);
  }

  private static @Nullable Target byAddress(String nodeId, Topology topology) {
    int hash = nodeId.lastIndexOf('#');
    String address = hash < 0 ? nodeId : nodeId.substring(0, hash);
    if (!address.contains("://")) {
      return null;
    }
    try {
      WorkerId id = WorkerId.parse(address);
      if (topology.worker(id) == null) {
        return null;
      }
      return hash < 0
          ? Target.of(id)
          : new Target(id, OptionalInt.of(Integer.parseUnsignedInt(nodeId.substring(hash + 1))));
    } catch (IllegalArgumentException e) {
      return null; // only looks like an address
    }
  }

  /** The one worker on a host; null where there is none, or more than one. */
  private static @Nullable WorkerId only(String host, Topology topology) {
    String wanted = bare(host);
    WorkerId found = null;
    for (Worker worker : topology.workers()) {
      if (wanted.equals(bare(host(worker.id())))) {
        if (found != null) {
          return null;
        }
        found = worker.id();
      }
    }
    return found;
  }

  private static String host(WorkerId id) {
    String address = id.value();
    int from = address.indexOf("://") + 3;
    int path = address.indexOf('/', from);
    String authority = path < 0 ? address.substring(from) : address.substring(from, path);
    return authority.substring(0, authority.lastIndexOf(':'));
  }

  /** An IPv6 address without its brackets. */
  private static String bare(String host) {
    String lower = host.toLowerCase(Locale.ROOT);
    return lower.startsWith("[") && lower.endsWith("]")
        ? lower.substring(1, lower.length() - 1)
        : lower;
  }

  /** Builds a {@link NodeIdMap}. Not thread safe. */
  public static final class Builder {
    private final Map<String, Target> entries = new LinkedHashMap<>();

    private Builder() {}

    /**
     * Says which worker a node is.
     *
     * @param nodeId the store's name, byte for byte
     * @param worker the worker's address
     * @throws IllegalArgumentException saying what is wrong with the address
     */
    public Builder node(String nodeId, String worker) {
      entries.put(nodeId, Target.of(WorkerId.parse(worker)));
      return this;
    }

    /**
     * Says which rank of a worker a node is.
     *
     * @throws IllegalArgumentException saying what is wrong with the address
     */
    public Builder node(String nodeId, String worker, int rank) {
      entries.put(nodeId, new Target(WorkerId.parse(worker), OptionalInt.of(rank)));
      return this;
    }

    /** The finished map. */
    public NodeIdMap build() {
      return new NodeIdMap(entries);
    }
  }
}
