package dev.warmpath.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one owner of who the workers are. Sources (the builder, discovery, an operator) say what they
 * know; probing adds what workers say of themselves; readers take {@link #current()}, an immutable
 * {@link Topology} swapped in O(1).
 *
 * <p>Thread safe. Changes are serialised by a lock that readers never take. Listeners run on a
 * changing thread, in version order, outside that lock. When a change returns they have all heard
 * of it, unless a listener made it: then it is told once the present one has gone round. Listeners
 * must be short and must not wait for another thread that changes the registry.
 */
public final class WorkerRegistry {
  /** The source name of workers added at run time through {@link #add}. */
  public static final String RUNTIME_SOURCE = "runtime";

  private static final Logger log = LoggerFactory.getLogger(WorkerRegistry.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final ReentrantLock delivery = new ReentrantLock();
  private final Map<String, Map<WorkerId, WorkerSpec>> bySource = new LinkedHashMap<>();
  private final Map<WorkerId, Entry> entries = new LinkedHashMap<>();
  private final Set<WorkerId> removed = new LinkedHashSet<>();
  private final TreeSet<Integer> freeSlots = new TreeSet<>();
  private final ArrayDeque<Change> undelivered = new ArrayDeque<>();
  private final CopyOnWriteArrayList<Listener> listeners = new CopyOnWriteArrayList<>();
  private boolean relisted;
  private int nextSlot;
  private long nextEpoch = 1;
  private volatile Topology current = Topology.EMPTY;

  /** What the listeners were last told; guarded by {@link #delivery}. */
  private Topology delivered = Topology.EMPTY;

  private record Change(Topology before, Topology after) {}

  /** The latest snapshot. Never blocks. */
  public Topology current() {
    return current;
  }

  /**
   * Registers a listener. It hears every later change, in order, and first what the others were
   * told last as a change from the empty topology, on the calling thread.
   */
  public void subscribe(Listener listener) {
    delivery.lock();
    try {
      // Not current: a change may be published and still on its way to the listeners.
      tell(listener, new Change(Topology.EMPTY, delivered));
      listeners.add(listener);
      deliverPending();
    } finally {
      delivery.unlock();
    }
  }

  /** Removes a listener. */
  public void unsubscribe(Listener listener) {
    listeners.remove(listener);
  }

  /**
   * Adds a worker, or replaces what is known of one, at run time. A worker removed before may come
   * back this way.
   */
  public void add(WorkerSpec spec) {
    change(
        () -> {
          relisted = true;
          removed.remove(spec.id());
          source(RUNTIME_SOURCE).put(spec.id(), spec);
        });
  }

  /**
   * Removes a worker. It stays away even if a discovery source lists it, until {@link #add} brings
   * it back.
   *
   * @return whether it was there
   */
  public boolean remove(WorkerId id) {
    boolean[] found = new boolean[1];
    change(
        () -> {
          relisted = true;
          found[0] = entries.containsKey(id);
          bySource.values().forEach(specs -> specs.remove(id));
          if (found[0]) {
            removed.add(id);
          }
        });
    return found[0];
  }

  /**
   * Stops (or starts again) sending new requests to a worker; what runs there goes on.
   *
   * @return whether the worker is there
   */
  public boolean drain(WorkerId id, boolean draining) {
    boolean[] found = new boolean[1];
    change(
        () -> {
          Entry entry = entries.get(id);
          if (entry != null) {
            found[0] = true;
            WorkerState state = draining ? WorkerState.DRAINING : WorkerState.ACTIVE;
            entry.dirty |= entry.state != state;
            entry.state = state;
          }
        });
    return found[0];
  }

  /**
   * Says what a discovery source now lists: workers it listed before and no longer does leave with
   * it. What several sources say of one worker is taken from the one that first spoke last, and
   * from {@link #add} before all.
   */
  public void replace(String source, Collection<WorkerSpec> specs) {
    Map<WorkerId, WorkerSpec> listed = new LinkedHashMap<>();
    for (WorkerSpec spec : specs) {
      listed.put(spec.id(), spec);
    }
    change(
        () -> {
          relisted = true;
          bySource.put(source, listed);
        });
  }

  /**
   * Records what a worker said of itself. Ignored when the worker left or restarted since {@code
   * epoch} was read. News of another number of ranks are another incarnation too: what was known of
   * the old ranks' load and caches can't be said of the new ones.
   *
   * @return whether it was taken
   */
  public boolean discovered(WorkerId id, long epoch, WorkerCapabilities capabilities) {
    boolean[] taken = new boolean[1];
    change(
        () -> {
          Entry entry = entries.get(id);
          if (entry != null && entry.epoch == epoch) {
            taken[0] = true;
            if (!entry.capabilities.equals(capabilities)) {
              entry.capabilities = capabilities;
              entry.dirty = true;
            }
          }
        });
    return taken[0];
  }

  /**
   * Records that a worker restarted and has said nothing of itself since: {@link
   * #restarted(WorkerId, long, WorkerCapabilities)} with nothing known.
   */
  public boolean restarted(WorkerId id, long epoch) {
    return restarted(id, epoch, WorkerCapabilities.UNKNOWN);
  }

  /**
   * Records that a worker restarted: its next incarnation has a new epoch and new slots, so
   * whatever was known of the old one's cache and load ends at once. Ignored when {@code epoch} is
   * no longer the worker's.
   *
   * @param capabilities what the new incarnation said of itself
   * @return whether it was taken
   */
  public boolean restarted(WorkerId id, long epoch, WorkerCapabilities capabilities) {
    boolean[] taken = new boolean[1];
    change(
        () -> {
          Entry entry = entries.get(id);
          if (entry != null && entry.epoch == epoch) {
            taken[0] = true;
            entry.epoch = nextEpoch++;
            entry.capabilities = capabilities;
            entry.renewSlots = true;
            entry.dirty = true;
          }
        });
    return taken[0];
  }

  private Map<WorkerId, WorkerSpec> source(String name) {
    return bySource.computeIfAbsent(name, unused -> new LinkedHashMap<>());
  }

  private void change(Runnable edit) {
    lock.lock();
    try {
      edit.run();
      publish();
    } finally {
      lock.unlock();
    }
    deliver();
  }

  private void publish() {
    List<Integer> released = new ArrayList<>();
    boolean changed = false;
    if (relisted) {
      relisted = false;
      changed = adoptLists(released);
    }
    for (Entry entry : entries.values()) {
      changed |= entry.dirty;
    }
    if (!changed) {
      return;
    }
    List<Worker> workers = new ArrayList<>();
    for (Entry entry : entries.values()) {
      workers.add(entry.rebuild(released));
    }
    Topology next = new Topology(current.version() + 1, workers);
    // Slots given up by this change are reused by a later one only: none means two things in one
    // topology.
    freeSlots.addAll(released);
    undelivered.add(new Change(current, next));
    current = next;
  }

  /** Brings the entries in line with what the sources list; whether one left. */
  private boolean adoptLists(List<Integer> released) {
    Map<WorkerId, WorkerSpec> wanted = new LinkedHashMap<>();
    for (Map<WorkerId, WorkerSpec> specs : bySource.values()) {
      wanted.putAll(specs);
    }
    wanted.keySet().removeAll(removed);
    // What was said at run time wins, whichever source spoke last.
    wanted.putAll(source(RUNTIME_SOURCE));
    boolean left =
        entries
            .values()
            .removeIf(
                entry -> {
                  boolean leaves = !wanted.containsKey(entry.spec.id());
                  if (leaves) {
                    entry.giveUpSlots(released);
                  }
                  return leaves;
                });
    for (WorkerSpec spec : wanted.values()) {
      Entry entry = entries.get(spec.id());
      if (entry == null) {
        entries.put(spec.id(), new Entry(spec, nextEpoch++));
      } else if (!entry.spec.equals(spec)) {
        entry.spec = spec;
        entry.dirty = true;
      }
    }
    return left;
  }

  private int takeSlot() {
    Integer free = freeSlots.pollFirst();
    return free != null ? free : nextSlot++;
  }

  private void deliver() {
    delivery.lock();
    try {
      deliverPending();
    } finally {
      delivery.unlock();
    }
  }

  private void deliverPending() {
    if (delivery.getHoldCount() > 1) {
      return; // a listener changed the registry: the outer delivery goes on with it
    }
    while (true) {
      Change change;
      lock.lock();
      try {
        change = undelivered.poll();
      } finally {
        lock.unlock();
      }
      if (change == null) {
        return;
      }
      delivered = change.after();
      for (Listener listener : listeners) {
        tell(listener, change);
      }
    }
  }

  private static void tell(Listener listener, Change change) {
    try {
      listener.onChange(change.before(), change.after());
    } catch (RuntimeException e) {
      log.warn("A topology listener failed on version {}", change.after().version(), e);
    }
  }

  private final class Entry {
    private WorkerSpec spec;
    private long epoch;
    private WorkerCapabilities capabilities = WorkerCapabilities.UNKNOWN;
    private WorkerState state = WorkerState.ACTIVE;
    private int[] slots = new int[0];
    private boolean renewSlots = true;
    private boolean dirty = true;
    private @Nullable Worker worker;

    Entry(WorkerSpec spec, long epoch) {
      this.spec = spec;
      this.epoch = epoch;
    }

    void giveUpSlots(List<Integer> released) {
      for (int slot : slots) {
        released.add(slot);
      }
    }

    private int rankCount() {
      Integer configured = spec.dpSize();
      if (configured != null) {
        return configured;
      }
      // A worker's word is taken within reason: a wild number must not exhaust the slots.
      Integer discovered = capabilities.dpSize();
      return discovered != null && discovered >= 1 && discovered <= WorkerSpec.MAX_DP_SIZE
          ? discovered
          : 1;
    }

    Worker rebuild(List<Integer> released) {
      Worker known = worker;
      if (known != null && !dirty) {
        return known;
      }
      int ranks = rankCount();
      if (renewSlots || slots.length != ranks) {
        if (!renewSlots) {
          epoch = nextEpoch++;
        }
        giveUpSlots(released);
        slots = new int[ranks];
        for (int i = 0; i < ranks; i++) {
          slots[i] = takeSlot();
        }
        renewSlots = false;
      }
      dirty = false;
      Worker made = new Worker(spec, epoch, capabilities, state, slots);
      worker = made;
      return made;
    }
  }

  /** Hears of topology changes. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Called once per change, in version order, one call at a time.
     *
     * @param before the snapshot that was current
     * @param after the snapshot that replaced it
     */
    void onChange(Topology before, Topology after);
  }
}
