package dev.warmpath.worker;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One incarnation of a worker as a {@link Topology} shows it: who it is (configured and
 * discovered), since when (epoch), and whether it takes requests. Immutable: a change is a new
 * {@code Worker} in a new topology.
 */
public final class Worker {
  private final WorkerSpec spec;
  private final long epoch;
  private final WorkerCapabilities capabilities;
  private final WorkerState state;
  private final List<WorkerRank> ranks;

  /**
   * Creates a worker with a rank for each slot.
   *
   * @param epoch the incarnation's number, never used by another worker or incarnation of this
   *     client
   * @param slots a slot for each rank: one for a worker of one rank, which then names none
   */
  Worker(
      WorkerSpec spec,
      long epoch,
      WorkerCapabilities capabilities,
      WorkerState state,
      int[] slots) {
    this.spec = spec;
    this.epoch = epoch;
    this.capabilities = capabilities;
    this.state = state;
    List<WorkerRank> made = new ArrayList<>(slots.length);
    for (int i = 0; i < slots.length; i++) {
      made.add(new WorkerRank(this, slots.length == 1 ? -1 : i, slots[i]));
    }
    this.ranks = List.copyOf(made);
  }

  /** The stable name. */
  public WorkerId id() {
    return spec.id();
  }

  /** What configuration or discovery says. */
  public WorkerSpec spec() {
    return spec;
  }

  /** The incarnation: a restarted worker has a new one, and starts with an empty cache. */
  public long epoch() {
    return epoch;
  }

  /** What the worker said of itself; {@link WorkerCapabilities#UNKNOWN} before the first probe. */
  public WorkerCapabilities capabilities() {
    return capabilities;
  }

  /** Whether it takes new requests. */
  public WorkerState state() {
    return state;
  }

  /** Its data-parallel ranks; one that names no rank where there is nothing to choose. */
  public List<WorkerRank> ranks() {
    return ranks;
  }

  /** The engine kind: configured, else discovered. */
  public EngineKind engine() {
    EngineKind configured = spec.engine();
    return configured != null ? configured : capabilities.engine();
  }

  /** The role: configured, else discovered, else {@link WorkerRole#REGULAR}. */
  public WorkerRole role() {
    WorkerRole configured = spec.role();
    if (configured != null) {
      return configured;
    }
    WorkerRole discovered = capabilities.role();
    return discovered != null ? discovered : WorkerRole.REGULAR;
  }

  /** The KV block (page) size in tokens: configured, else discovered, else null. */
  public @Nullable Integer blockSize() {
    Integer configured = spec.blockSize();
    return configured != null ? configured : capabilities.blockSize();
  }

  /** The KV capacity of one rank in tokens: configured, else discovered, else null. */
  public @Nullable Long kvCapacityTokens() {
    Long configured = spec.kvCapacityTokens();
    return configured != null ? configured : capabilities.kvCapacityTokens();
  }

  /** Where it tells of its KV cache: configured, else discovered, else null. */
  public @Nullable KvEventSource kvEvents() {
    return KvEventSource.told(spec.labels())
        ? KvEventSource.of(spec.labels())
        : capabilities.kvEvents();
  }

  /** The models it serves: configured, else discovered; empty while unknown. */
  public List<ServedModel> models() {
    return spec.models().isEmpty()
        ? capabilities.models()
        : spec.models().stream().map(ServedModel::named).toList();
  }

  /**
   * Whether it serves a model or LoRA adapter: {@link Served#UNKNOWN} while its models are not
   * known. SGLang's {@code base:adapter} form is served where the adapter is listed, or where the
   * base is and adapters are not listed by the engine.
   */
  public Served serves(String model) {
    List<ServedModel> models = models();
    if (models.isEmpty()) {
      return Served.UNKNOWN;
    }
    int colon = engine() == EngineKind.SGLANG ? model.indexOf(':') : -1;
    String base = colon > 0 ? model.substring(0, colon) : model;
    String adapter = colon > 0 ? model.substring(colon + 1) : model;
    boolean listsAdapters = false;
    boolean servesBase = false;
    for (ServedModel served : models) {
      if (served.id().equals(model)
          || (colon > 0 && served.adapter() && served.id().equals(adapter))) {
        return Served.YES;
      }
      listsAdapters |= served.adapter();
      servesBase |= served.id().equals(base);
    }
    return colon > 0 && servesBase && !listsAdapters ? Served.YES : Served.NO;
  }

  /** The answer of {@link Worker#serves}. */
  public enum Served {
    /** The worker lists it. */
    YES,
    /** The worker lists others, not this. */
    NO,
    /** The worker's models are not known yet. */
    UNKNOWN
  }

  @Override
  public String toString() {
    return id().value() + "@" + epoch;
  }
}
