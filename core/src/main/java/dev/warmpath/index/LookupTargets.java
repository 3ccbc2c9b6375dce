package dev.warmpath.index;

import dev.warmpath.hash.HashNamespace;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.prompt.EngineHashing;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRole;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The workers of one topology as a store is asked for them: by model, those that name their blocks
 * alike together; and which of them the store's nodes are. Worked out once for a topology. Thread
 * safe.
 */
final class LookupTargets {
  /** Models come from requests, and nodes from another process: what is remembered is bounded. */
  private static final int MAX_REMEMBERED = 4_096;

  private static final HashParams NO_KEYS = HashParams.builder().build();

  /**
   * Workers that name their blocks alike.
   *
   * @param encoder makes the names
   * @param hashing makes the hashes
   * @param workers who
   */
  record Group(BlockKeyEncoder encoder, EngineHashing hashing, Set<Worker> workers) {
    HashScheme scheme(HashParams keys) {
      return hashing.scheme(keys);
    }
  }

  /**
   * Those that serve a model.
   *
   * @param groups the workers whose blocks can be named
   * @param unknown why another's can't be, or null where there is none
   */
  record Served(List<Group> groups, @Nullable String unknown) {}

  private record Naming(BlockKeyEncoder encoder, HashNamespace namespace) {}

  private record Node(String id, String peerAddress) {}

  private final Topology topology;
  private final LookupSettings settings;
  private final Map<String, Served> byModel = new ConcurrentHashMap<>();
  private final Map<Node, Optional<NodeIdResolver.Target>> byNode = new ConcurrentHashMap<>();

  LookupTargets(Topology topology, LookupSettings settings) {
    this.topology = topology;
    this.settings = settings;
  }

  Topology topology() {
    return topology;
  }

  /** Who serves a model; all workers where none is named. */
  Served served(@Nullable String model) {
    String key = model == null ? "" : model;
    Served known = byModel.get(key);
    if (known == null) {
      known = select(model);
      if (byModel.size() < MAX_REMEMBERED) {
        byModel.put(key, known);
      }
    }
    return known;
  }

  private Served select(@Nullable String model) {
    Map<Naming, Group> groups = new LinkedHashMap<>();
    String unknown = null;
    for (WorkerRole role : WorkerRole.values()) {
      CandidateSet candidates = topology.candidates(model, role);
      for (int i = 0; i < candidates.size(); i++) {
        Worker worker = candidates.get(i).worker();
        BlockKeyEncoder encoder = settings.encoder(worker.engine());
        if (encoder == null) {
          unknown = "how " + worker.engine().label() + " names blocks is unknown";
          continue;
        }
        EngineHashing hashing = encoder.hashing(worker);
        if (!hashing.known()) {
          unknown = "how " + worker.id() + " hashes blocks is unknown: " + hashing.unknownReason();
          continue;
        }
        Naming naming = new Naming(encoder, hashing.scheme(NO_KEYS).namespace());
        groups
            .computeIfAbsent(naming, made -> new Group(encoder, hashing, new HashSet<>()))
            .workers()
            .add(worker);
      }
    }
    return new Served(List.copyOf(groups.values()), unknown);
  }

  /** Which worker a node is, or null. */
  NodeIdResolver.@Nullable Target target(BlockAnswer.Node node) {
    Node key = new Node(node.id(), node.peerAddress());
    Optional<NodeIdResolver.Target> known = byNode.get(key);
    if (known == null) {
      known =
          Optional.ofNullable(settings.nodes().resolve(node.id(), node.peerAddress(), topology));
      if (byNode.size() < MAX_REMEMBERED) {
        byNode.put(key, known);
      }
    }
    return known.orElse(null);
  }
}
