package dev.warmpath;

import dev.warmpath.health.HealthMonitor;
import dev.warmpath.health.WorkerView;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.List;

/** The client's workers: what is known of each, and changing them at run time. Thread safe. */
public final class Workers {
  private final WorkerRegistry registry;
  private final HealthMonitor health;

  Workers(WorkerRegistry registry, HealthMonitor health) {
    this.registry = registry;
    this.health = health;
  }

  /** What is known of each worker now. */
  public List<WorkerView> list() {
    return health.views();
  }

  /**
   * Adds a worker by its one-line form, see {@link WorkerSpec#parse}.
   *
   * @throws IllegalArgumentException saying what to correct
   */
  public void add(String worker) {
    add(WorkerSpec.parse(worker));
  }

  /** Adds a worker, or replaces what is configured of one. */
  public void add(WorkerSpec worker) {
    registry.add(worker);
  }

  /**
   * Removes a worker: nothing new goes there, what runs there ends in its own time. It stays away,
   * whatever discovery says, until it is added again.
   *
   * @return whether it was there
   */
  public boolean remove(String address) {
    return registry.remove(WorkerId.parse(address));
  }

  /**
   * Stops sending new requests to a worker; what runs there goes on.
   *
   * @return whether it was there
   */
  public boolean drain(String address) {
    return registry.drain(WorkerId.parse(address), true);
  }

  /**
   * Takes a drained worker back into use.
   *
   * @return whether it was there
   */
  public boolean resume(String address) {
    return registry.drain(WorkerId.parse(address), false);
  }
}
