package dev.warmpath.knowledge;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.KnowledgeTransport.KvInjected;
import dev.warmpath.transport.KnowledgeTransport.KvOrder;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Worker;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Has KV put where an instance finds it, within a short time. An endpoint that failed is left alone
 * for a while, so that one which hangs holds up few requests. Thread safe.
 */
final class KvInjector {
  /** The label with the URL of a worker's control plane. */
  static final String LABEL = "knowledge-inject";

  private static final int MAX_RESTING = 4_096;

  private final KnowledgeRegistry registry;
  private final KnowledgeTransport transport;
  private final InjectionSettings settings;
  private final Cache<URI, Long> restUntil =
      Caffeine.newBuilder().maximumSize(MAX_RESTING).executor(Runnable::run).build();
  private final KvPlaces places;
  private final LongAdder injected = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  KvInjector(KnowledgeRegistry registry, KnowledgeTransport transport, InjectionSettings settings) {
    this.registry = registry;
    this.transport = transport;
    this.settings = settings;
    this.places = new KvPlaces(settings.kvMemory(), registry::now);
  }

  /**
   * What became of an attempt to inject.
   *
   * @param done whether the KV is in place
   * @param outcome the same in a few words
   */
  record Result(boolean done, String outcome, long bytes) {}

  /** Where KV is. */
  KvPlaces places() {
    return places;
  }

  /** The time by which {@link #places} goes, in nanoseconds. */
  long now() {
    return registry.now();
  }

  /** Where a worker's KV is asked for; null where that isn't known. */
  @Nullable URI endpoint(Worker worker) {
    String label = worker.spec().labels().get(LABEL);
    try {
      if (label != null) {
        return URI.create(label);
      }
      String host = worker.id().uri().getHost();
      return settings.injectPort().isPresent() && host != null
          ? URI.create("http://" + host + ":" + settings.injectPort().getAsInt())
          : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * Injects, on this thread.
   *
   * @param left how long the request may take at all; null for as long as it likes
   */
  Result inject(URI endpoint, KvOrder order, @Nullable Duration left) {
    Long until = restUntil.getIfPresent(endpoint);
    if (until != null && until - registry.now() > 0) {
      return new Result(false, "left alone after a failure", 0);
    }
    Duration timeout = InjectionSettings.within(settings.kvTimeout(), left);
    if (timeout.isNegative() || timeout.isZero()) {
      return new Result(false, "no time left", 0);
    }
    try {
      KvInjected told = transport.injectKv(endpoint, order, timeout);
      bytes.add(told.payloadBytes());
      if (told.injected().stream().map(KnowledgeIds::canonical).toList().containsAll(order.ids())) {
        injected.increment();
        return new Result(true, "injected", told.payloadBytes());
      }
      failed.increment();
      return new Result(false, "the node has no KV of it", told.payloadBytes());
    } catch (TransportException e) {
      return rest(endpoint, e.kind().name().toLowerCase(java.util.Locale.ROOT));
    } catch (RuntimeException e) {
      return rest(endpoint, e.getClass().getSimpleName());
    }
  }

  private Result rest(URI endpoint, String why) {
    failed.increment();
    if (!Thread.currentThread().isInterrupted()) {
      restUntil.put(endpoint, registry.now() + registry.settings().rest().toNanos());
    }
    return new Result(false, "failed: " + why, 0);
  }

  long injected() {
    return injected.sum();
  }

  long failed() {
    return failed.sum();
  }

  long bytes() {
    return bytes.sum();
  }
}
