package dev.warmpath;

import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

  /** Sources that are forgotten once each of these discoveries has told something. */
  private final Set<Told> awaited = new HashSet<>();

  private final Set<String> outgoing = new LinkedHashSet<>();
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

  /** What a discovery tells its findings; heard from {@link #hear} or {@link #swap} on. */
  Told told(String name) {
    return new Told(name);
  }

  /** Hears of a discovery from now on. */
  void hear(Told told) {
    lock.lock();
    try {
      told.heard = true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Hears no more of some discoveries, and of others from now on. What the former told, under names
   * that no other takes over, is forgotten as soon as the latter, and those that came in before and
   * are silent still, have each told something: in between there might be nobody to send to.
   */
  void swap(Collection<Told> ended, Collection<Told> begun) {
    lock.lock();
    try {
      for (Told told : ended) {
        told.heard = false;
        awaited.remove(told);
        outgoing.add(told.source);
      }
      for (Told told : begun) {
        told.heard = true;
        outgoing.remove(told.source);
      }
      awaited.addAll(begun);
      forget();
    } finally {
      lock.unlock();
    }
  }

  private void forget() {
    if (awaited.isEmpty()) {
      outgoing.forEach(
          source -> {
            listed.remove(source);
            tell(source);
          });
      outgoing.clear();
    }
  }

  /** What one discovery tells. */
  final class Told implements WorkerDiscovery.Listener {
    private final String source;
    private final AtomicBoolean failing = new AtomicBoolean();

    /** Guarded by the lock. */
    private boolean heard;

    private Told(String name) {
      this.source = DISCOVERED + name;
    }

    @Override
    public void onWorkers(Collection<WorkerSpec> found) {
      failing.set(false);
      lock.lock();
      try {
        if (heard) {
          list(source, found);
          awaited.remove(this);
          forget();
        }
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void onError(Exception error) {
      if (failing.compareAndSet(false, true)) {
        log.warn("{} fails; the last list of workers stays in force", source, error);
      }
    }
  }
}
