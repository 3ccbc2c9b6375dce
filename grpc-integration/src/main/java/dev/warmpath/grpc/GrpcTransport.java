package dev.warmpath.grpc;

import dev.warmpath.grpc.internal.EngineService;
import dev.warmpath.grpc.internal.EngineServices;
import dev.warmpath.grpc.internal.GrpcAdmin;
import dev.warmpath.grpc.internal.InexpressibleException;
import dev.warmpath.grpc.internal.MessagePrompts;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.index.kv.KvSubscriber;
import dev.warmpath.index.kv.KvSubscriberSource;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.Draft;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reaches {@code grpc} and, over TLS, {@code grpcs} workers, whichever of these services they
 * offer: SGLang's and vLLM's behind smg's servicers, SGLang's native runtime, and vLLM's own front
 * end. The application sends and gets the same OpenAI JSON as over HTTP.
 *
 * <p>A worker's service is found by asking; the label {@code grpc} of a worker ({@code
 * grpc://host:port;grpc=sglang-scheduler}, {@code vllm-engine}, {@code sglang}, {@code vllm}) names
 * it. All but {@code sglang} take token ids: the client needs the model's files for them. What a
 * service has no words for is refused before a worker is chosen, with the reason.
 *
 * <p>Calls are never repeated here. Each worker has one channel, until it leaves or its TLS files
 * are replaced; {@code grpc-netty-shaded}, or another of gRPC's transports, must be on the class
 * path. Thread safe.
 */
public final class GrpcTransport implements Transport, KvSubscriberSource {
  private final Function<Worker, ManagedChannel> channels;
  private final InstantSource clock;
  private final ConcurrentHashMap<WorkerId, Endpoint> endpoints = new ConcurrentHashMap<>();

  /** Those of workers that left, as long as calls run there. */
  private final Set<Endpoint> retired = ConcurrentHashMap.newKeySet();

  private final ExecutorService aborts =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "warmpath-grpc-aborts");
            thread.setDaemon(true);
            return thread;
          });
  private volatile boolean closed;

  private GrpcTransport(Builder builder) {
    ChannelSettings settings = builder.settings;
    Function<WorkerId, ManagedChannel> given = builder.channels;
    this.channels =
        given == null
            ? worker -> settings.forWorker(worker).open(worker.id().uri())
            : worker -> given.apply(worker.id());
    this.clock = builder.clock;
  }

  /** A transport with the defaults: {@link ChannelSettings#ENGINE}. */
  public static GrpcTransport create() {
    return builder().build();
  }

  /** Starts a transport. */
  public static Builder builder() {
    return new Builder();
  }

  @Override
  public Set<String> schemes() {
    return Set.of("grpc", "grpcs");
  }

  @Override
  public boolean choosy() {
    return true;
  }

  /**
   * Asks the service that each worker was found to offer; of a worker that was not asked yet, those
   * that it may offer, and whether one of them would do.
   */
  @Override
  public Function<Worker, @Nullable String> examine(Draft draft) {
    Map<EngineService, String> verdicts = new HashMap<>();
    return worker -> {
      Endpoint endpoint = endpoints.get(worker.id());
      EngineService offered = endpoint == null ? null : endpoint.service();
      List<EngineService> possible = offered == null ? EngineServices.of(worker) : List.of(offered);
      String refusal = null;
      for (EngineService service : possible) {
        refusal = verdicts.computeIfAbsent(service, asked -> verdict(asked, draft));
        if (refusal.isEmpty()) {
          return null;
        }
      }
      return refusal;
    };
  }

  /** Why a service can't carry a request; empty where it can. */
  private static String verdict(EngineService service, Draft draft) {
    String named = MessagePrompts.service(draft.request().path());
    if (named != null) {
      return service.named(named) ? "" : "its gRPC service is '" + service.name() + "'";
    }
    try {
      service.check(
          draft.request().path(), draft.request().body(), draft.tokens(), draft.noTokens());
      return "";
    } catch (InexpressibleException e) {
      return e.reason();
    }
  }

  @Override
  public Exchange open(OutboundRequest request) {
    Endpoint endpoint = endpoint(request.target().worker());
    return AdminExchange.serves(request.path())
        ? new AdminExchange(request, endpoint)
        : new GrpcExchange(request, endpoint, clock.millis() / 1_000);
  }

  /**
   * The channel to a worker, for calls of one's own. It stays the transport's, which shuts it down
   * when the worker leaves or its TLS files are replaced: ask for it at each call.
   *
   * @throws IllegalStateException when the transport is closed
   */
  public ManagedChannel channel(Worker worker) {
    return endpoint(worker).channel();
  }

  /** Listens to the workers whose service has {@code SubscribeKvEvents}. */
  @Override
  public KvSubscriber kvSubscriber(KvEventSettings settings) {
    return new GrpcKvSubscriber(this, settings);
  }

  /** The service that a worker was found to offer, or the only one it can; null if not known. */
  @Nullable EngineService service(Worker worker) {
    Endpoint endpoint = endpoints.get(worker.id());
    EngineService offered = endpoint == null ? null : endpoint.service();
    if (offered != null) {
      return offered;
    }
    List<EngineService> possible = EngineServices.of(worker);
    return possible.size() == 1 ? possible.get(0) : null;
  }

  Endpoint endpoint(Worker worker) {
    if (closed) {
      throw new IllegalStateException("the transport is closed");
    }
    Endpoint endpoint =
        endpoints.computeIfAbsent(
            worker.id(), id -> new Endpoint(worker, channels, this::abortLater));
    if (closed) {
      endpoint.close();
    }
    return endpoint;
  }

  private void abortLater(Runnable abort) {
    try {
      aborts.execute(abort);
    } catch (RejectedExecutionException e) {
      // closed: the channels are down with it
    }
  }

  /** What a late call opens for a worker that has left goes with the next change. */
  @Override
  public void retain(Set<WorkerId> workers) {
    retired.removeIf(Endpoint::over);
    endpoints.forEach(
        (id, endpoint) -> {
          if (!workers.contains(id)) {
            retired.add(endpoint); // first, so that close() finds it here or there
            endpoints.remove(id, endpoint);
            endpoint.retire();
          }
        });
  }

  @Override
  public ProbeReport probe(Worker worker, Duration timeout) throws TransportException {
    return endpoint(worker).probe(worker, timeout);
  }

  @Override
  public HealthReport health(Worker worker, Duration timeout) throws TransportException {
    return endpoint(worker).health(worker, timeout);
  }

  @Override
  public LoadReport load(Worker worker, Duration timeout) throws TransportException {
    return endpoint(worker).load(worker, timeout);
  }

  @Override
  public AdminReply admin(Worker worker, AdminCommand command, Duration timeout) {
    try {
      Endpoint endpoint = endpoint(worker);
      EngineService service = endpoint.found(worker, timeout).service();
      return GrpcAdmin.run(service, endpoint.calls(worker, timeout), command);
    } catch (TransportException e) {
      return AdminReply.of(e);
    }
  }

  @Override
  public void close() {
    closed = true;
    endpoints.values().forEach(Endpoint::close);
    retired.forEach(Endpoint::close);
    aborts.shutdown();
  }

  /** Builds a {@link GrpcTransport}. Not thread safe. */
  public static final class Builder {
    private ChannelSettings settings = ChannelSettings.ENGINE;
    private @Nullable Function<WorkerId, ManagedChannel> channels;
    private InstantSource clock = InstantSource.system();

    private Builder() {}

    /** Sets how channels are made; {@link ChannelSettings#ENGINE} by default. */
    public Builder settings(ChannelSettings settings) {
      this.settings = Objects.requireNonNull(settings, "settings");
      return this;
    }

    /**
     * Makes each worker's channel oneself, from a builder that {@link ChannelSettings#apply} was
     * given to. The transport shuts it down, and asks for another when the worker's TLS files are
     * replaced.
     */
    public Builder channels(Function<WorkerId, ManagedChannel> channels) {
      this.channels = Objects.requireNonNull(channels, "channels");
      return this;
    }

    /** Sets the clock that answers are dated by. */
    public Builder clock(InstantSource clock) {
      this.clock = Objects.requireNonNull(clock, "clock");
      return this;
    }

    /** The finished transport. */
    public GrpcTransport build() {
      return new GrpcTransport(this);
    }
  }
}
