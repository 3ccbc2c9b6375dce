package dev.warmpath.worker;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * An immutable snapshot of the workers, published by {@link WorkerRegistry} under a growing
 * version. A decision reads one topology from beginning to end.
 */
public final class Topology {
  /** No workers, version 0. */
  public static final Topology EMPTY = new Topology(0, List.of());

  /**
   * Candidate sets remembered per topology; model names come from requests, so the memory is
   * bounded.
   */
  private static final int MAX_CACHED_SETS = 1_024;

  private final long version;
  private final List<Worker> workers;
  private final Map<WorkerId, Worker> byId;
  private final List<WorkerRank> ranks;
  private final int slotCount;
  private final boolean disaggregated;
  private final Map<WorkerRole, ConcurrentHashMap<String, CandidateSet>> byModel =
      new EnumMap<>(WorkerRole.class);
  private final Map<WorkerRole, CandidateSet> anyModel = new ConcurrentHashMap<>();

  Topology(long version, List<Worker> workers) {
    this.version = version;
    this.workers = List.copyOf(workers);
    this.byId = new LinkedHashMap<>();
    List<WorkerRank> all = new ArrayList<>();
    int slots = 0;
    for (Worker worker : this.workers) {
      byId.put(worker.id(), worker);
      for (WorkerRank rank : worker.ranks()) {
        all.add(rank);
        slots = Math.max(slots, rank.slot() + 1);
      }
    }
    this.ranks = List.copyOf(all);
    this.slotCount = slots;
    this.disaggregated =
        this.workers.stream().anyMatch(worker -> worker.role() != WorkerRole.REGULAR);
    for (WorkerRole role : WorkerRole.values()) {
      byModel.put(role, new ConcurrentHashMap<>());
    }
  }

  /** A number that grows with every change. */
  public long version() {
    return version;
  }

  /** All workers, draining ones too. */
  public List<Worker> workers() {
    return workers;
  }

  /** All ranks of all workers. */
  public List<WorkerRank> ranks() {
    return ranks;
  }

  /** One more than the largest slot in use: the size a side table needs. */
  public int slotCount() {
    return slotCount;
  }

  /** Whether there are workers that only prefill or only decode. */
  public boolean disaggregated() {
    return disaggregated;
  }

  /** The worker of that name, or null. */
  public @Nullable Worker worker(WorkerId id) {
    return byId.get(id);
  }

  /**
   * Who may serve {@code model} in {@code role}: active workers of the role that list the model;
   * where nobody lists it, those whose models are not known yet. Prefill and decode candidates are
   * workers of that very role; regular ones serve whole requests.
   *
   * @param model the request's model or LoRA adapter, or null when the request names none
   */
  public CandidateSet candidates(@Nullable String model, WorkerRole role) {
    if (model == null) {
      CandidateSet known = anyModel.get(role);
      if (known == null) {
        known = select(null, role);
        anyModel.put(role, known);
      }
      return known;
    }
    ConcurrentHashMap<String, CandidateSet> cache = Objects.requireNonNull(byModel.get(role));
    CandidateSet cached = cache.get(model);
    if (cached != null) {
      return cached;
    }
    CandidateSet made = select(model, role);
    if (cache.size() < MAX_CACHED_SETS) {
      cache.put(model, made);
    }
    return made;
  }

  private CandidateSet select(@Nullable String model, WorkerRole role) {
    List<WorkerRank> listed = new ArrayList<>();
    List<WorkerRank> unknown = new ArrayList<>();
    for (Worker worker : workers) {
      if (worker.state() != WorkerState.ACTIVE || worker.role() != role) {
        continue;
      }
      Worker.Served served = model == null ? Worker.Served.YES : worker.serves(model);
      if (served == Worker.Served.YES) {
        listed.addAll(worker.ranks());
      } else if (served == Worker.Served.UNKNOWN) {
        unknown.addAll(worker.ranks());
      }
    }
    return new CandidateSet(role, listed.isEmpty() ? unknown : listed);
  }

  /** The union of the models that the workers serve, by name. */
  public Set<ServedModel> models() {
    Map<String, ServedModel> union = new LinkedHashMap<>();
    for (Worker worker : workers) {
      for (ServedModel model : worker.models()) {
        union.putIfAbsent(model.id(), model);
      }
    }
    return new LinkedHashSet<>(union.values());
  }

  @Override
  public String toString() {
    return "Topology v" + version + workers;
  }
}
