package dev.warmpath;

import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what the configuration and discovery say of workers into the registry, with the client's
 * keys; when these change it says everything anew. Thread safe.
 */
final class WorkerSources {
  private static final Logger log = LoggerFactory.getLogger(WorkerSources.class);
  private static final String CONFIGURED = "builder";
  private static final String DISCOVERED = "discovery:";

  private final WorkerRegistry registry;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, List<WorkerSpec>> listed = new LinkedHashMap<>();
  private ClientSettings settings;

  WorkerSources(WorkerRegistry registry, ClientSettings settings) {
    this.registry = registry;
    this.settings = settings;
    list(CONFIGURED, settings.workers);
  }

  private void list(String source, Collection<WorkerSpec> specs) {
    lock.lock();
    try {
      listed.put(source, List.copyOf(specs));
      tell(source);
    } finally {
      lock.unlock();
    }
  }

  private void tell(String source) {
    registry.replace(
        source, listed.getOrDefault(source, List.of()).stream().map(settings::keyed).toList());
  }

  /** Takes other workers and keys. */
  void reload(ClientSettings next) {
    lock.lock();
    try {
      settings = next;
      listed.put(CONFIGURED, next.workers);
      List.copyOf(listed.keySet()).forEach(this::tell);
    } finally {
      lock.unlock();
    }
  }

  /** Takes what a discovery told in an earlier run, until it tells anew. */
  void remember(String discovery, Collection<WorkerSpec> specs) {
    list(DISCOVERED + discovery, specs);
  }

  /** What discoveries have told, by their names. */
  Map<String, List<WorkerSpec>> discovered() {
    Map<String, List<WorkerSpec>> told = new LinkedHashMap<>();
    lock.lock();
    try {
      listed.forEach(
          (source, specs) -> {
            if (source.startsWith(DISCOVERED)) {
              told.put(source.substring(DISCOVERED.length()), specs);
            }
          });
    } finally {
      lock.unlock();
    }
    return told;
  }

  /** What a discovery tells its findings. */
  WorkerDiscovery.Listener of(String name) {
    AtomicBoolean failing = new AtomicBoolean();
    return new WorkerDiscovery.Listener() {
      @Override
      public void onWorkers(Collection<WorkerSpec> found) {
        failing.set(false);
        list(DISCOVERED + name, found);
      }

      @Override
      public void onError(Exception error) {
        if (failing.compareAndSet(false, true)) {
          log.warn("Discovery {} fails; its last list of workers stays in force", name, error);
        }
      }
    };
  }
}
