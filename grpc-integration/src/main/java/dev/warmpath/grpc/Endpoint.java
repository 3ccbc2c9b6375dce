package dev.warmpath.grpc;

import dev.warmpath.grpc.internal.ControlCalls;
import dev.warmpath.grpc.internal.EngineService;
import dev.warmpath.grpc.internal.EngineServices;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.Worker;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One worker's channel, and what is known of the service behind it. Thread safe. */
final class Endpoint {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static final Duration ABORT_TIMEOUT = Duration.ofSeconds(1);

  private final Function<Worker, ManagedChannel> channels;
  private final WorkerChannel channel;
  private final Executor aborts;
  private volatile @Nullable Known known;
  private volatile long toldLoadBy = -1;

  /** What an incarnation of the worker offers. */
  private record Known(long epoch, EngineServices.Found found) {}

  /**
   * Creates an endpoint with a channel, which it shuts down with itself.
   *
   * @param channels opens channels to a worker
   * @param aborts runs aborts that follow cancelled calls
   */
  Endpoint(Worker worker, Function<Worker, ManagedChannel> channels, Executor aborts) {
    this.channels = channels;
    this.channel = new WorkerChannel(channels, worker);
    this.aborts = aborts;
  }

  /** For the next call: those to come may have another. */
  ManagedChannel channel() {
    return channel.current();
  }

  /** The service that the worker was last found to offer, or null. */
  @Nullable EngineService service() {
    Known last = known;
    return last == null ? null : last.found().service();
  }

  /** The next request asks anew what the worker offers. */
  void forget() {
    known = null;
  }

  /**
   * What this incarnation of the worker offers; asks it where that is not known.
   *
   * @throws TransportException when it can't be asked, or offers nothing that is known
   */
  EngineServices.Found found(Worker worker, Duration timeout) throws TransportException {
    Known last = known;
    return last != null && last.epoch() == worker.epoch() ? last.found() : find(worker, timeout);
  }

  private EngineServices.Found find(Worker worker, Duration timeout) throws TransportException {
    Known before = known;
    EngineServices.Found found =
        EngineServices.find(
            calls(worker, timeout), worker, before == null ? null : before.found().service());
    known = new Known(worker.epoch(), found);
    return found;
  }

  ProbeReport probe(Worker worker, Duration timeout) throws TransportException {
    channel.look(worker);
    EngineServices.Found found = find(worker, timeout);
    return new ProbeReport(found.report().capabilities(), found.report().incarnation());
  }

  HealthReport health(Worker worker, Duration timeout) throws TransportException {
    channel.look(worker);
    return found(worker, timeout).service().health(calls(worker, timeout));
  }

  LoadReport load(Worker worker, Duration timeout) throws TransportException {
    channel.look(worker);
    EngineService service = found(worker, timeout).service();
    LoadReport report = service.load(calls(worker, timeout), worker);
    if (service.zeroMayBeUnknown() && toldLoadBy != worker.epoch()) {
      if (report.ranks().stream().allMatch(Endpoint::zero)) {
        return new LoadReport(List.of(), report.source(), null, Double.NaN);
      }
      toldLoadBy = worker.epoch();
    }
    return report;
  }

  private static boolean zero(RankLoad load) {
    return load.runningRequests() == 0 && load.waitingRequests() == 0 && load.tokenUsage() == 0;
  }

  /** Small calls under one deadline. */
  ControlCalls calls(Worker worker, Duration timeout) {
    return calls(channel.current(), worker, timeout);
  }

  private static ControlCalls calls(ManagedChannel channel, Worker worker, Duration timeout) {
    return new ControlCalls(channel, controlHeaders(worker), timeout);
  }

  /** The metadata of a call of the client's own: the worker's admin key, or else its key. */
  static Metadata controlHeaders(Worker worker) {
    Metadata headers = new Metadata();
    Secret admin = worker.spec().adminKey();
    authorize(headers, admin == null ? worker.spec().apiKey() : admin);
    return headers;
  }

  /** The metadata of a request: the application's headers, and the worker's key. */
  Metadata headers(OutboundRequest request) {
    Metadata headers = ForwardedHeaders.of(request.headers());
    authorize(headers, request.target().worker().spec().apiKey());
    return headers;
  }

  private static void authorize(Metadata headers, @Nullable Secret key) {
    if (key != null) {
      headers.discardAll(AUTHORIZATION);
      headers.put(AUTHORIZATION, "Bearer " + key.reveal());
    }
  }

  /**
   * Aborts a request whose call is cancelled; nobody waits for it. A request that outlasted the
   * endpoint takes a channel of its own for that.
   */
  void abortLater(Worker worker, EngineService service, String rid) {
    aborts.execute(
        () -> {
          ManagedChannel usual = channel.current();
          ManagedChannel open = usual.isShutdown() ? channels.apply(worker) : usual;
          try {
            service.abort(calls(open, worker, ABORT_TIMEOUT), rid);
          } catch (TransportException e) {
            // Whoever can't be told to end a request ends it by itself, or is down.
          } finally {
            if (open != usual) {
              open.shutdownNow();
            }
          }
        });
  }

  /** Takes no further calls; those that run end in their own time, and the channel with them. */
  void retire() {
    channel.shutdown();
  }

  /** Whether it was shut down and no call runs any more. */
  boolean over() {
    return channel.isTerminated();
  }

  /** Cuts all calls. */
  void close() {
    channel.shutdownNow();
  }
}
