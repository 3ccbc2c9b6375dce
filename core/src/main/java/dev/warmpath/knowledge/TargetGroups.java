package dev.warmpath.knowledge;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.RankState;
import dev.warmpath.policy.RoutingEnvironment;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The second stage's targets out of a client's workers: workers with the same label {@code
 * knowledge-target}, or behind the address of a target that registered, are one; each of the others
 * is one by itself. What a target reports of its load counts, then what the workers' telemetry and
 * the client's own counts show; what nobody shows is unknown. Thread safe.
 */
final class TargetGroups {
  /** The label that names a worker's target. */
  static final String LABEL = "knowledge-target";

  private static final long TELEMETRY_LIMIT = RoutingEnvironment.DEFAULT_TELEMETRY_LIMIT.toNanos();

  private final KnowledgeRegistry registry;
  private final Map<String, Map<String, KnowledgeLink>> links;
  private final Map<String, Integer> capacities;
  private final RequestRates rates;
  private final Cache<CandidateSet, Grouping> groupings =
      Caffeine.newBuilder().weakKeys().maximumSize(64).executor(Runnable::run).build();

  /**
   * Creates the groups.
   *
   * @param links links to nodes by the target's id, where an operator told of them
   * @param capacities requests that a target may work on at once, likewise
   * @param rates what the client sends to each rank
   */
  TargetGroups(
      KnowledgeRegistry registry,
      Map<String, Map<String, KnowledgeLink>> links,
      Map<String, Integer> capacities,
      RequestRates rates) {
    this.registry = registry;
    this.links = links;
    this.capacities = capacities;
    this.rates = rates;
  }

  /**
   * Which rank belongs to which target, for as long as nobody comes or goes.
   *
   * @param version of the targets that registered
   */
  record Grouping(long version, List<Group> groups, Map<WorkerId, String> targetOf) {}

  /**
   * A target and its ranks.
   *
   * @param names what ranks are called in events
   */
  record Group(
      String id,
      @Nullable TargetEntry registered,
      List<WorkerRank> ranks,
      List<String> names,
      Map<String, KnowledgeLink> links,
      OptionalInt capacity) {}

  Grouping grouping(CandidateSet candidates) {
    KnowledgeRegistry.Targets registered = registry.versionedTargets();
    Grouping known = groupings.getIfPresent(candidates);
    if (known == null || known.version() != registered.version()) {
      known = group(candidates, registered);
      groupings.put(candidates, known);
    }
    return known;
  }

  private Grouping group(CandidateSet candidates, KnowledgeRegistry.Targets registered) {
    Map<String, TargetEntry> byId = new HashMap<>();
    Map<String, TargetEntry> byAddress = new HashMap<>();
    for (TargetEntry entry : registered.entries()) {
      byId.put(entry.said().id(), entry);
      byAddress.put(entry.said().host() + ":" + entry.said().port(), entry);
    }
    Map<String, List<WorkerRank>> ranks = new LinkedHashMap<>();
    Map<String, TargetEntry> entries = new HashMap<>();
    Map<WorkerId, String> targetOf = new HashMap<>();
    for (WorkerRank rank : candidates.asList()) {
      Worker worker = rank.worker();
      String label = worker.spec().labels().get(LABEL);
      TargetEntry entry =
          label == null
              ? byAddress.get(worker.id().uri().getHost() + ":" + worker.id().uri().getPort())
              : byId.get(label);
      String id = label != null ? label : entry != null ? entry.said().id() : worker.id().value();
      ranks.computeIfAbsent(id, key -> new ArrayList<>()).add(rank);
      targetOf.put(worker.id(), id);
      if (entry != null) {
        entries.put(id, entry);
      }
    }
    List<Group> groups = new ArrayList<>();
    ranks.forEach((id, its) -> groups.add(group(id, entries.get(id), its)));
    return new Grouping(registered.version(), List.copyOf(groups), Map.copyOf(targetOf));
  }

  private Group group(String id, @Nullable TargetEntry entry, List<WorkerRank> ranks) {
    Map<String, KnowledgeLink> its = new HashMap<>(links.getOrDefault(id, Map.of()));
    if (entry != null) {
      its.putAll(entry.links());
    }
    Integer set = capacities.get(id);
    OptionalInt capacity =
        entry != null && entry.capacity().isPresent()
            ? entry.capacity()
            : set == null ? OptionalInt.empty() : OptionalInt.of(set);
    return new Group(
        id,
        entry,
        List.copyOf(ranks),
        ranks.stream().map(WorkerRank::toString).toList(),
        Map.copyOf(its),
        capacity);
  }

  /** The targets as they are now; those all of whose workers are down come only if all are. */
  List<KnowledgeTarget> targets(Grouping grouping, FleetView fleet) {
    List<KnowledgeTarget> up = new ArrayList<>(grouping.groups().size());
    for (Group group : grouping.groups()) {
      if (anyUp(group, fleet)) {
        up.add(target(group, fleet));
      }
    }
    if (up.isEmpty()) {
      grouping.groups().forEach(group -> up.add(target(group, fleet)));
    }
    return up;
  }

  private static boolean anyUp(Group group, FleetView fleet) {
    for (WorkerRank rank : group.ranks()) {
      RankState state = fleet.find(rank);
      if (state != null && !state.lastResort()) {
        return true;
      }
    }
    return false;
  }

  private KnowledgeTarget target(Group group, FleetView fleet) {
    long now = registry.now();
    double inFlight = 0;
    double room = 0;
    double perSecond = 0;
    for (int i = 0; i < group.ranks().size(); i++) {
      RankState state = fleet.find(group.ranks().get(i));
      perSecond += rates.perSecond(group.names().get(i));
      if (state == null) {
        continue;
      }
      LoadSnapshot load = state.freshLoad(now, TELEMETRY_LIMIT);
      double seen =
          load == null
              ? Double.NaN
              : load.load().runningRequests() + orZero(load.load().waitingRequests());
      inFlight +=
          Double.isNaN(seen)
              ? state.inFlight()
              : Math.max(state.inFlight(), seen + state.inFlightUnseen());
      room += load == null ? Double.NaN : load.load().maxRunningRequests();
    }
    TargetEntry entry = group.registered();
    TargetEntry told = entry != null && registry.alive(entry) ? entry : null;
    OptionalInt capacity =
        group.capacity().isPresent() || !(room >= 1)
            ? group.capacity()
            : OptionalInt.of((int) Math.min(room, Integer.MAX_VALUE));
    int reported = told == null ? 0 : told.inFlight().orElse(0);
    return new KnowledgeTarget(
        group.id(),
        (int) Math.max(reported, Math.min(inFlight, Integer.MAX_VALUE)),
        capacity,
        told != null && told.requestsPerSecond().isPresent()
            ? told.requestsPerSecond()
            : OptionalDouble.of(perSecond),
        told == null ? OptionalDouble.empty() : told.gpuUtilisation(),
        group.links());
  }

  private static double orZero(double value) {
    return Double.isNaN(value) ? 0 : value;
  }

  /** Milliseconds for each prompt token, as measured of a target's ranks; NaN where none was. */
  static double pace(Grouping grouping, String target, FleetView fleet) {
    double sum = 0;
    int known = 0;
    for (Group group : grouping.groups()) {
      if (group.id().equals(target)) {
        for (WorkerRank rank : group.ranks()) {
          RankState state = fleet.find(rank);
          double pace = state == null ? Double.NaN : state.pace().millisPerToken();
          if (!Double.isNaN(pace)) {
            sum += pace;
            known++;
          }
        }
      }
    }
    return known == 0 ? Double.NaN : sum / known;
  }
}
