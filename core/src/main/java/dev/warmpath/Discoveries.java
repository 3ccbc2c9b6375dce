package dev.warmpath;

import dev.warmpath.config.DiscoverySource;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The sources that a client finds its workers by: those that its builder was given, which stay to
 * the end, and those that its configuration names, which change with it. Thread safe.
 */
final class Discoveries implements AutoCloseable {
  private record Running(WorkerDiscovery discovery, WorkerSources.Told told) {}

  private final WorkerSources workers;
  private final Map<String, List<WorkerSpec>> known;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Running> given = new ArrayList<>();
  private final Map<DiscoverySource, Running> named = new LinkedHashMap<>();
  private boolean closed;

  /**
   * @param known what discoveries told in an earlier run, by their names: it holds until they tell
   */
  Discoveries(WorkerSources workers, Map<String, List<WorkerSpec>> known) {
    this.workers = workers;
    this.known = new HashMap<>(known);
  }

  /** Starts one of the builder's. */
  void start(WorkerDiscovery discovery) {
    Running running;
    lock.lock();
    try {
      running = new Running(discovery, told(discovery));
      given.add(running);
      workers.hear(running.told());
    } finally {
      lock.unlock();
    }
    discovery.start(running.told());
  }

  /**
   * Makes discoveries; nothing is started.
   *
   * @throws RuntimeException when one can't be made; none is left open then
   */
  static Map<DiscoverySource, WorkerDiscovery> open(Collection<DiscoverySource> sources) {
    Map<DiscoverySource, WorkerDiscovery> opened = new LinkedHashMap<>();
    try {
      for (DiscoverySource source : sources) {
        opened.put(source, source.open());
      }
      return opened;
    } catch (RuntimeException e) {
      opened.values().forEach(RouterClient::quietly);
      throw e;
    }
  }

  /** Makes those that a configuration names and that do not run yet, as {@link #open} does. */
  Map<DiscoverySource, WorkerDiscovery> openNew(RouterConfig next) {
    lock.lock();
    try {
      return open(
          next.discoveries().stream().filter(source -> !named.containsKey(source)).toList());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Goes over to those that a configuration names. What the ones that end have told stays in force
   * until each of those that are named has told something.
   *
   * @param opened what was made of the same configuration
   */
  void take(RouterConfig next, Map<DiscoverySource, WorkerDiscovery> opened) {
    Map<DiscoverySource, Running> ended = new LinkedHashMap<>();
    List<Running> begun = new ArrayList<>();
    lock.lock();
    try {
      if (closed) {
        opened.values().forEach(WorkerDiscovery::close);
        return;
      }
      ended.putAll(named);
      next.discoveries().forEach(ended::remove);
      ended.keySet().forEach(named::remove);
      opened.forEach(
          (source, discovery) -> {
            Running running = new Running(discovery, told(discovery));
            named.put(source, running);
            begun.add(running);
          });
      workers.swap(
          ended.values().stream().map(Running::told).toList(),
          begun.stream().map(Running::told).toList());
    } finally {
      lock.unlock();
    }
    ended.values().forEach(running -> running.discovery().close());
    begun.forEach(running -> running.discovery().start(running.told()));
  }

  private WorkerSources.Told told(WorkerDiscovery discovery) {
    List<WorkerSpec> last = known.remove(discovery.name());
    if (last != null) {
      workers.remember(discovery.name(), last);
    }
    return workers.told(discovery.name());
  }

  /** Ends all of them; what they told stays. */
  @Override
  public void close() {
    List<Running> all = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      all.addAll(given);
      all.addAll(named.values());
    } finally {
      lock.unlock();
    }
    for (Running running : all) {
      RouterClient.quietly(running.discovery());
    }
  }
}
