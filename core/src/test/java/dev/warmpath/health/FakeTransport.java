package dev.warmpath.health;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Workers that do as they are told. */
final class FakeTransport implements Transport {
  /** How a worker takes a call. */
  enum Mode {
    OK,
    REFUSE,
    UNHEALTHY,
    TIME_OUT,
    RESET,
    THROW
  }

  /** One call that was made. */
  record Made(String call, WorkerId worker, long atNanos) {}

  /** One worker. */
  static final class FakeWorker {
    volatile Mode health = Mode.OK;
    volatile Mode probe = Mode.OK;
    volatile Mode load = Mode.OK;
    volatile EngineKind engine = EngineKind.VLLM;
    volatile List<ServedModel> models = List.of(ServedModel.named("m"));
    volatile @Nullable Integer dpSize;
    volatile @Nullable Integer blockSize = 16;
    volatile boolean unfinished;
    volatile @Nullable String incarnation;
    volatile @Nullable String loadIncarnation;
    volatile double count = Double.NaN;
    volatile List<RankLoad> ranks = List.of(load(-1, 0, 0));
    volatile Runnable duringCall = () -> {};

    /** Sets how it takes calls of every kind. */
    void all(Mode mode) {
      health = mode;
      probe = mode == Mode.UNHEALTHY ? Mode.OK : mode;
      load = mode == Mode.UNHEALTHY ? Mode.OK : mode;
    }
  }

  private final LongSupplier clock;
  private final Map<WorkerId, FakeWorker> workers = new ConcurrentHashMap<>();
  private final List<Made> made = new ArrayList<>();

  FakeTransport(LongSupplier clock) {
    this.clock = clock;
  }

  static RankLoad load(int rank, double running, double waiting) {
    return new RankLoad(
        rank,
        running,
        waiting,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN);
  }

  FakeWorker worker(String address) {
    return workers.computeIfAbsent(WorkerId.parse(address), id -> new FakeWorker());
  }

  /** The times, in order, of the calls of one kind to one worker. */
  synchronized List<Long> calls(String call, String address) {
    WorkerId id = WorkerId.parse(address);
    return made.stream()
        .filter(m -> m.call().equals(call) && m.worker().equals(id))
        .map(Made::atNanos)
        .toList();
  }

  synchronized int calls() {
    return made.size();
  }

  synchronized void forgetCalls() {
    made.clear();
  }

  private FakeWorker enter(String call, Worker worker) {
    synchronized (this) {
      made.add(new Made(call, worker.id(), clock.getAsLong()));
    }
    FakeWorker fake = worker(worker.id().value());
    fake.duringCall.run();
    return fake;
  }

  private static void obey(Mode mode) throws TransportException {
    switch (mode) {
      case OK, UNHEALTHY -> {}
      case REFUSE -> throw failure(Kind.CONNECT, "connection refused");
      case TIME_OUT -> throw failure(Kind.FIRST_TOKEN_TIMEOUT, "no answer in time");
      case RESET -> throw failure(Kind.RESET, "connection reset");
      case THROW -> throw new IllegalStateException("a bug in the transport");
    }
  }

  static TransportException failure(Kind kind, String message) {
    return new TransportException(kind, FailurePhase.AWAIT_HEADERS, 0, message, null);
  }

  @Override
  public Set<String> schemes() {
    return Set.of("http");
  }

  @Override
  public Exchange open(OutboundRequest request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ProbeReport probe(Worker worker, Duration timeout) throws TransportException {
    FakeWorker fake = enter("probe", worker);
    obey(fake.probe);
    return new ProbeReport(
        new WorkerCapabilities(
            fake.engine, null, null, fake.models, fake.dpSize, fake.blockSize, null, null, null),
        fake.incarnation,
        fake.unfinished);
  }

  @Override
  public HealthReport health(Worker worker, Duration timeout) throws TransportException {
    FakeWorker fake = enter("health", worker);
    obey(fake.health);
    return fake.health == Mode.UNHEALTHY
        ? new HealthReport(false, "503")
        : new HealthReport(true, "200");
  }

  @Override
  public LoadReport load(Worker worker, Duration timeout) throws TransportException {
    FakeWorker fake = enter("load", worker);
    obey(fake.load);
    return new LoadReport(fake.ranks, "/fake", fake.loadIncarnation, fake.count);
  }

  @Override
  public void close() {}
}
