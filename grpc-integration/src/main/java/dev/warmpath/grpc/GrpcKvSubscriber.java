package dev.warmpath.grpc;

import dev.warmpath.grpc.internal.EngineService;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.index.kv.KvSubscriber;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.worker.KvEventSource;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import io.grpc.MethodDescriptor;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Listens by {@code SubscribeKvEvents}, which SGLang and vLLM offer behind smg's servicers, over
 * the channels of a {@link GrpcTransport}: a stream for each worker, one thread for all of them.
 *
 * <p>The servicers tell of a worker's first rank only, and replay nothing (smg-grpc-servicer
 * 0.8.0). So a worker's label {@code kv-events}, which names an endpoint of ZeroMQ or {@code off},
 * goes before. A worker that answers {@code UNIMPLEMENTED} has its events switched off, and is
 * asked again in its next life.
 */
final class GrpcKvSubscriber implements KvSubscriber {
  /** How long closing waits for a batch that is being applied. */
  private static final long CLOSE_MILLIS = 2_000;

  private final GrpcTransport transport;
  private final KvEventSettings settings;
  private final ScheduledExecutorService thread;
  private final RandomGenerator random;

  /** The epoch in which a worker last said that it does not tell. */
  private final Map<WorkerId, Long> refusals = new ConcurrentHashMap<>();

  /** Those that are listened to; the thread's. */
  private final Set<KvLink> links = new HashSet<>();

  /**
   * Creates a subscriber that listens to nobody, and has no thread until it does.
   *
   * @param transport whose channels are used; stays open
   */
  GrpcKvSubscriber(GrpcTransport transport, KvEventSettings settings) {
    this(
        transport,
        settings,
        oneThread(),
        new SplittableRandom(ThreadLocalRandom.current().nextLong()));
  }

  /**
   * Creates one with a thread and randomness of the caller's.
   *
   * @param thread has one thread, and is shut down with this; what comes later is dropped silently
   */
  GrpcKvSubscriber(
      GrpcTransport transport,
      KvEventSettings settings,
      ScheduledExecutorService thread,
      RandomGenerator random) {
    this.transport = transport;
    this.settings = settings;
    this.thread = thread;
    this.random = random;
  }

  private static ScheduledExecutorService oneThread() {
    ScheduledThreadPoolExecutor made =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "warmpath-grpc-kv-events");
              thread.setDaemon(true);
              return thread;
            },
            // Calls that end after this was closed have nobody to tell.
            new ThreadPoolExecutor.DiscardPolicy());
    made.setRemoveOnCancelPolicy(true);
    made.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return made;
  }

  @Override
  public @Nullable String endpoint(WorkerRank rank) {
    Worker worker = rank.worker();
    if (rank.rank().orElse(0) != 0
        || worker.spec().labels().containsKey(KvEventSource.LABEL)
        || method(worker) == null) {
      return null;
    }
    Long refusal = refusals.get(worker.id());
    if (refusal == null) {
      return worker.id().uri().toString();
    }
    return refusal == worker.epoch() ? null : worker.id().uri() + " in epoch " + worker.epoch();
  }

  private @Nullable MethodDescriptor<SubscribeKvEventsRequest, KvEventBatch> method(Worker worker) {
    if (!transport.schemes().contains(worker.id().uri().getScheme())) {
      return null;
    }
    EngineService service = transport.service(worker);
    return service == null ? null : service.kvEvents();
  }

  @Override
  public Subscription subscribe(WorkerRank rank, KvStream stream) {
    Worker worker = rank.worker();
    MethodDescriptor<SubscribeKvEventsRequest, KvEventBatch> method = method(worker);
    if (method == null) {
      throw new IllegalArgumentException(rank + " has no stream of KV events");
    }
    KvLink.Target target =
        new KvLink.Target(
            rank,
            transport.endpoint(worker),
            method,
            () -> refusals.put(worker.id(), worker.epoch()));
    KvLink link = new KvLink(target, stream, settings, thread, random);
    thread.execute(
        () -> {
          links.add(link);
          link.open();
        });
    return new Subscription() {
      @Override
      public boolean connected() {
        return link.connected();
      }

      @Override
      public long malformed() {
        return link.malformed();
      }

      @Override
      public void close() {
        link.mute();
        thread.execute(
            () -> {
              links.remove(link);
              link.end();
            });
      }
    };
  }

  /** Idempotent. */
  @Override
  public void close() {
    if (thread.isShutdown()) {
      return;
    }
    Future<?> ended = thread.submit(() -> links.forEach(KvLink::end));
    try {
      ended.get(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException | ExecutionException e) {
      // Calls that are left end with their channels.
    } finally {
      thread.shutdown();
    }
  }
}
