package dev.warmpath.knowledge;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.KnowledgeTransport.KvInjected;
import dev.warmpath.transport.KnowledgeTransport.KvOrder;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.Worker;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Has KV put where an instance finds it, within a short time, once for all requests that need it
 * there at the same moment. An endpoint that failed is left alone for a while, so that one which
 * hangs holds up few requests. Thread safe.
 */
final class KvInjector {
  /** The label with the URL of a worker's control plane. */
  static final String LABEL = "knowledge-inject";

  private static final String INJECTED = "injected";

  private static final int MAX_RESTING = 4_096;

  private final KnowledgeRegistry registry;
  private final KnowledgeTransport transport;
  private final InjectionSettings settings;
  private final Cache<URI, Long> restUntil =
      Caffeine.newBuilder().maximumSize(MAX_RESTING).executor(Runnable::run).build();
  private final KvPlaces places;
  private final SharedCalls<Transfer, Result> transfers;
  private final LongAdder injected = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  /** KV that is put on a rank; who delivers it doesn't matter. */
  private record Transfer(URI endpoint, long holder, String model, List<String> ids) {
    static Transfer of(URI endpoint, long holder, KvOrder order) {
      return new Transfer(endpoint, holder, order.model(), order.ids());
    }
  }

  /**
   * Has put nothing anywhere yet.
   *
   * @param time what waits
   * @param threads where KV is waited for
   */
  KvInjector(
      KnowledgeRegistry registry,
      KnowledgeTransport transport,
      InjectionSettings settings,
      Scheduler time,
      Executor threads) {
    this.registry = registry;
    this.transfers = new SharedCalls<>(time, threads);
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

  /** A rank's cache was emptied: what is under way to it may be gone when it has come. */
  void emptied(long holder) {
    transfers.part(transfer -> transfer.holder() == holder);
    places.emptied(holder);
  }

  /**
   * Waits until KV is in place, or for as long as it may be waited for: each for itself, though who
   * needs the same KV on the same rank at the same moment shares a transfer.
   *
   * @param holder the rank where it is to be
   * @param left how long the request may take at all; null for as long as it likes
   */
  Result inject(URI endpoint, long holder, KvOrder order, @Nullable Duration left) {
    Long until = restUntil.getIfPresent(endpoint);
    if (until != null && until - registry.now() > 0) {
      return new Result(false, "left alone after a failure", 0);
    }
    Duration patience = InjectionSettings.within(settings.kvTimeout(), left);
    if (patience.isNegative() || patience.isZero()) {
      return new Result(false, "no time left", 0);
    }
    SharedCalls.Outcome<Result> outcome =
        transfers.await(
            Transfer.of(endpoint, holder, order),
            () -> held(holder, order),
            () -> transfer(endpoint, holder, order),
            patience);
    if (outcome.end() == SharedCalls.End.LATE_AND_LAST) {
      rest(endpoint);
    }
    Result result = outcome.result();
    if (result == null) {
      return new Result(
          false,
          switch (outcome.end()) {
            case LATE, LATE_AND_LAST -> "failed: deadline";
            case INTERRUPTED -> "failed: cancelled";
            case REFUSED, ENDED -> "failed: no thread was free";
          },
          0);
    }
    if (!outcome.joined()) {
      return result;
    }
    return new Result(
        result.done(), result.outcome() + (result.done() ? " with another request's" : ""), 0);
  }

  /** Whether another request waits for this. */
  boolean underWay(URI endpoint, long holder, KvOrder order) {
    return transfers.running(Transfer.of(endpoint, holder, order));
  }

  /** What another request's transfer put there since this one looked. */
  private @Nullable Result held(long holder, KvOrder order) {
    return places.seen(holder, order.ids().get(0)) == KvPlaces.Evidence.HELD
        ? new Result(true, INJECTED, 0)
        : null;
  }

  private Result transfer(URI endpoint, long holder, KvOrder order) {
    try {
      KvInjected told = transport.injectKv(endpoint, order, settings.kvTimeout());
      bytes.add(told.payloadBytes());
      if (told.injected().stream().map(KnowledgeIds::canonical).toList().containsAll(order.ids())) {
        injected.increment();
        places.put(holder, order.ids().get(0));
        return new Result(true, INJECTED, told.payloadBytes());
      }
      failed.increment();
      return new Result(false, "the node has no KV of it", told.payloadBytes());
    } catch (TransportException e) {
      return failed(endpoint, e.kind().name().toLowerCase(Locale.ROOT));
    } catch (RuntimeException e) {
      return failed(endpoint, e.getClass().getSimpleName());
    }
  }

  private Result failed(URI endpoint, String why) {
    failed.increment();
    if (!Thread.currentThread().isInterrupted()) {
      rest(endpoint);
    }
    return new Result(false, "failed: " + why, 0);
  }

  private void rest(URI endpoint) {
    restUntil.put(endpoint, registry.now() + registry.settings().rest().toNanos());
  }

  /** Requests that shared a transfer which another one had begun, once they wait for it. */
  long shared() {
    return transfers.joined();
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
