package dev.warmpath.fake;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.internal.grpc.GrpcServer;
import dev.warmpath.fake.internal.grpc.GrpcServices;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.fake.internal.http.HttpServer;
import dev.warmpath.fake.internal.surface.EngineControl;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.HandoffOptions;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.internal.surface.SideChannel;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process that a {@link FakeEngine} stands for: a port that stays, and one {@link Life} after
 * another behind it. Thread-safe.
 */
final class EngineProcess implements EngineControl, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineProcess.class);

  private final EngineSettings settings;
  private final EngineClock clock;
  private final LatencyModel latency;
  private final @Nullable Consumer<ReceivedRequest> onRequest;
  private final Faults faults;
  private final HttpServer server;
  private final @Nullable SideChannel sideChannel;
  private final @Nullable GrpcServer grpc;
  private final @Nullable GrpcApi grpcApi;
  private final @Nullable Path tokenizerFiles;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private EngineStats before = EngineStats.NONE;
  private int starts;
  private boolean killed;
  private boolean closed;

  private volatile @Nullable Life life;
  private volatile @Nullable KvEventEndpoint kvEndpoint;
  private volatile @Nullable EngineSurface surface;

  /**
   * Binds the port and begins the first life.
   *
   * @param options what the engine is to be
   * @throws java.io.UncheckedIOException if a port can't be bound
   * @throws IllegalArgumentException if a gRPC server is wanted that its kind does not have
   */
  EngineProcess(FakeEngineBuilder options) {
    EngineAssembly assembly = new EngineAssembly(options);
    this.grpcApi = assembly.grpcApi();
    this.tokenizerFiles = options.tokenizerFiles;
    this.clock = options.clock;
    this.latency = assembly.latency();
    this.onRequest = options.onRequest;
    this.faults = new Faults(options.seed, this::applyFaults);
    this.server =
        new HttpServer(
            new InetSocketAddress(options.host, options.port),
            options.keepAlive,
            options.maxBodyBytes,
            this::handle);
    SideChannel bound = null;
    try {
      this.settings = assembly.settings(url());
      bound = bindSideChannel();
      this.sideChannel = bound;
      Integer grpcPort = options.grpcPort;
      this.grpc =
          grpcPort == null ? null : new GrpcServer(new InetSocketAddress(options.host, grpcPort));
    } catch (RuntimeException e) {
      server.close();
      if (bound != null) {
        bound.close();
      }
      throw e;
    }
    try {
      boot();
      accept();
    } catch (RuntimeException e) {
      closeServers();
      closeSideChannel();
      throw e;
    }
    if (!options.faults.isEmpty()) {
      faults.add(options.faults);
    }
  }

  /** A worker that hands nothing over has none. */
  private @Nullable SideChannel bindSideChannel() {
    return settings.role() == WorkerRole.REGULAR
        ? null
        : new SideChannel(settings.host(), portOf(settings));
  }

  /** A decode worker of SGLang has no bootstrap server: its port says where prefill's is. */
  private static int portOf(EngineSettings settings) {
    HandoffOptions handoff = settings.handoff();
    boolean none =
        settings.role() == WorkerRole.DECODE && handoff.protocol() == TransferProtocol.SGLANG;
    return none ? 0 : handoff.port();
  }

  private void boot() {
    Life next =
        new Life(
            settings,
            starts,
            clock,
            this::newCore,
            "fake-" + server.address().getPort(),
            kvEndpoint,
            faults,
            sidePort());
    kvEndpoint = next.kvEndpoint();
    starts++;
    life = next;
    EngineSurface nextSurface = EngineSurface.of(next, faults, this);
    surface = nextSurface;
    if (sideChannel != null) {
      sideChannel.serve(next);
    }
    if (grpc != null && grpcApi != null) {
      grpc.serve(GrpcServices.of(grpcApi, nextSurface, tokenizerFiles));
    }
    applyConditions(next);
  }

  private EngineCore newCore() {
    return settings.kind() == EngineKind.SGLANG
        ? new SglangCore(settings.sglang(), latency)
        : new VllmCore(settings.core(), latency);
  }

  private void handle(HttpExchange exchange) {
    Consumer<ReceivedRequest> observer = onRequest;
    if (observer != null) {
      HttpRequest request = exchange.request();
      observer.accept(
          new ReceivedRequest(
              request.method(),
              request.path(),
              request.query(),
              request.headers(),
              request.body()));
    }
    EngineSurface current = surface;
    if (current == null) {
      exchange.reset();
    } else {
      current.handle(exchange);
    }
  }

  private void applyFaults() {
    lock.lock();
    try {
      Life current = life;
      if (current == null) {
        return;
      }
      applyConditions(current);
      if (faults.isOn(Fault.Kind.REFUSE)) {
        refuseNow();
      } else {
        accept();
      }
    } finally {
      lock.unlock();
    }
  }

  private void accept() {
    server.accept();
    if (grpc != null) {
      grpc.accept();
    }
  }

  private void refuseNow() {
    server.refuse();
    if (grpc != null) {
      grpc.refuse();
    }
  }

  private void applyConditions(Life current) {
    current.slowdown(faults.slowdown());
    current.freeze(faults.isOn(Fault.Kind.FREEZE));
  }

  EngineSettings settings() {
    return settings;
  }

  /** The URL of where it listens. */
  String url() {
    InetSocketAddress address = server.address();
    return "http://" + address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /** Where it listens, also while it is dead. */
  InetSocketAddress address() {
    return server.address();
  }

  /** The port at which the other side of a handoff finds it; 0 if it hands nothing over. */
  int sidePort() {
    return sideChannel == null ? 0 : sideChannel.port();
  }

  /** Where its gRPC server listens; null if it has none. */
  @Nullable InetSocketAddress grpcAddress() {
    return grpc == null ? null : grpc.address();
  }

  Faults faults() {
    return faults;
  }

  /** The present life, or null while it is dead. */
  @Nullable Life life() {
    return life;
  }

  /** Where cache changes are published, in every life; null if they are not. */
  @Nullable KvEventEndpoint kvEndpoint() {
    return kvEndpoint;
  }

  /** The stats of all lives together. */
  EngineStats stats() {
    lock.lock();
    try {
      Life current = life;
      return current == null ? before : before.plus(statsOf(current));
    } finally {
      lock.unlock();
    }
  }

  private EngineStats statsOf(Life current) {
    int connections = server.connections() + (grpc == null ? 0 : grpc.connections());
    return EngineStats.of(current.snapshots(), current.counts(), connections);
  }

  /** Dies; the port stays reserved. */
  void kill() {
    lock.lock();
    try {
      if (!closed && !killed) {
        killed = true;
        announceDeath();
        refuseNow();
        retire();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Before the connections go, which would look as if the clients had left. */
  private void announceDeath() {
    Life current = life;
    if (current != null) {
      current.dying();
    }
  }

  /** Ends the present life; its counters stay. */
  private void retire() {
    Life current = life;
    if (current != null) {
      before = before.plus(statsOf(current)).countersOnly();
      life = null;
      surface = null;
      if (sideChannel != null) {
        sideChannel.refuse();
      }
      current.close();
    }
  }

  /**
   * Begins another life in place of the present one, or after a death.
   *
   * @throws IllegalStateException if it is closed
   */
  void reboot() {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("engine is closed");
      }
      announceDeath();
      refuseNow();
      retire();
      killed = false;
      boot();
      if (!faults.isOn(Fault.Kind.REFUSE)) {
        accept();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void schedule(Duration delay, Runnable action) {
    server.schedule(delay, action);
  }

  /** On a thread of its own, since the server's thread has to go on while it restarts. */
  @Override
  public void restart() {
    Thread restarter = new Thread(this::rebootUnlessClosed, "fake-restart-" + address().getPort());
    restarter.setDaemon(true);
    restarter.start();
  }

  private void rebootUnlessClosed() {
    try {
      reboot();
    } catch (IllegalStateException e) {
      LOG.debug("closed before the restart", e);
    }
  }

  /** Each server has to go on with the request that brought this, so neither is waited for. */
  @Override
  public void refuse() {
    server.refuse();
    if (grpc != null) {
      grpc.refuseSoon();
    }
  }

  private void closeServers() {
    server.close();
    if (grpc != null) {
      grpc.close();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
    } finally {
      lock.unlock();
    }
    announceDeath();
    closeServers();
    lock.lock();
    try {
      retire();
    } finally {
      lock.unlock();
    }
    closeSideChannel();
  }

  private void closeSideChannel() {
    if (sideChannel != null) {
      sideChannel.close();
    }
  }
}
