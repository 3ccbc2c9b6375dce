package dev.warmpath.fake;

import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.PauseMode;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * One worker that behaves like SGLang, vLLM or ATOM over HTTP and gRPC, without a GPU.
 *
 * <p>It serves the engine's inference, discovery, load and admin endpoints in the engine's own
 * shapes. Behind them a scheduler with continuous batching and a prefix cache runs on one thread
 * for each data-parallel rank; {@link LatencyModel} says how long its passes take. Answers are
 * deterministic: the same request gets the same text from every fake engine, by either protocol.
 * Sampling is not simulated: an answer has exactly as many tokens as the request asks for, or
 * {@link FakeEngineBuilder#defaultOutputTokens} when it names no limit, unless a stop ends it. Log
 * probabilities are made up, and only given over gRPC.
 *
 * <pre>{@code
 * try (FakeEngine engine = FakeEngine.builder().kind(EngineKind.SGLANG).model("qwen").start()) {
 *   client.post(engine.url() + "/v1/chat/completions", body);
 * }
 * }</pre>
 *
 * <p>Thread-safe. Whoever starts it closes it.
 */
public final class FakeEngine implements AutoCloseable {
  private final EngineProcess process;

  FakeEngine(EngineProcess process) {
    this.process = process;
  }

  /**
   * Starts to describe an engine.
   *
   * @return a builder with defaults for everything
   */
  public static FakeEngineBuilder builder() {
    return new FakeEngineBuilder();
  }

  /**
   * Returns the address of the engine.
   *
   * @return {@code http://HOST:PORT}
   */
  public String url() {
    return process.url();
  }

  /**
   * Returns the port.
   *
   * @return the real one, also where 0 was asked for
   */
  public int port() {
    return process.address().getPort();
  }

  /**
   * Returns the address of the engine's gRPC server.
   *
   * @return {@code grpc://HOST:PORT}; null unless {@link FakeEngineBuilder#grpcPort} was set
   */
  public @Nullable String grpcUrl() {
    InetSocketAddress address = process.grpcAddress();
    return address == null
        ? null
        : "grpc://" + address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /**
   * Returns the imitated engine.
   *
   * @return its kind
   */
  public EngineKind kind() {
    return process.settings().kind();
  }

  /**
   * Returns what the worker computes.
   *
   * @return its role
   */
  public WorkerRole role() {
    return process.settings().role();
  }

  /**
   * Returns the name the model is served under.
   *
   * @return the first served name
   */
  public String model() {
    return process.settings().servedModel();
  }

  /**
   * Returns where changes of the KV cache are published.
   *
   * @return the endpoint, the same across restarts; null unless {@link FakeEngineBuilder#kvEvents}
   *     was set
   */
  public @Nullable KvEventEndpoint kvEvents() {
    return process.kvEndpoint();
  }

  /**
   * Returns the switchboard of failures.
   *
   * @return live, also across restarts
   */
  public Faults faults() {
    return process.faults();
  }

  /**
   * Returns what happened so far and what is going on.
   *
   * @return the stats over all ranks
   */
  public EngineStats stats() {
    return process.stats();
  }

  /**
   * Returns what each data-parallel rank published last.
   *
   * @return by rank; empty while the engine is dead
   */
  public List<RankSnapshot> ranks() {
    Life current = process.life();
    return current == null ? List.of() : current.snapshots();
  }

  /**
   * Counts the handoffs under way on a prefill or decode worker: rooms it waits in, KV it holds for
   * the other side, KV it awaits. The blocks of them are among {@link EngineStats#activeBlocks()}.
   *
   * @return how many; 0 when idle, and while the engine is dead
   */
  public int handoffs() {
    Life current = process.life();
    return current == null ? 0 : current.handoffsUnderWay();
  }

  /**
   * Counts the KV blocks that a prefill worker holds for somebody to fetch; they are among {@link
   * EngineStats#activeBlocks()}.
   *
   * @return blocks; 0 while the engine is dead
   */
  public int heldBlocks() {
    Life current = process.life();
    return current == null ? 0 : current.heldBlocks();
  }

  /**
   * Counts the rooms and transfers that are open on a prefill worker, whoever of both sides has
   * come, and the KV that it offers.
   *
   * @return how many; 0 while the engine is dead
   */
  public int liveRooms() {
    Life current = process.life();
    return current == null ? 0 : current.liveRooms();
  }

  /**
   * Returns how a prefill or decode worker hands KV over.
   *
   * @return the connector's protocol; of no consequence on a regular worker
   */
  public TransferProtocol transfer() {
    return process.settings().handoff().protocol();
  }

  /**
   * Returns the port at which the other side of a handoff finds this worker.
   *
   * @return the port, the same across restarts; 0 on a regular worker
   */
  public int sideChannelPort() {
    return process.sidePort();
  }

  /**
   * Returns what a client has to be told of this worker: its address, and on a prefill or decode
   * worker its role, its engine and its connector's configuration, as {@code ;key=value} labels.
   *
   * @return a worker's text form
   */
  public String workerSpec() {
    return AdvertisedWorker.of(this);
  }

  /**
   * Empties the prefix cache if the engine is idle, on any kind of engine.
   *
   * @return whether it was idle
   */
  public boolean flushCache() {
    Life current = process.life();
    if (current == null) {
      return false;
    }
    try {
      return current.flush().join();
    } catch (CancellationException | CompletionException e) {
      return false;
    }
  }

  /**
   * Stops forward passes, so that requests arrive and wait; what runs keeps its KV. For tests that
   * need to see a request in flight.
   */
  public void pause() {
    apply(new EngineCommand.Pause(PauseMode.IN_PLACE));
  }

  /** Ends a {@link #pause()}. */
  public void resume() {
    apply(new EngineCommand.Resume());
  }

  private void apply(EngineCommand command) {
    Life current = process.life();
    if (current != null) {
      current.applyToAll(command).join();
    }
  }

  /**
   * Dies as a crashed process would: connections are reset, new ones refused, the cache is gone.
   * The port stays reserved.
   */
  public void kill() {
    process.kill();
  }

  /**
   * Restarts the process, whether it is alive or killed: same port, connections reset, cache lost,
   * counters on the wire from zero. Armed faults stay armed.
   *
   * @throws IllegalStateException if it is closed
   */
  public void restart() {
    process.reboot();
  }

  @Override
  public void close() {
    process.close();
  }

  @Override
  public String toString() {
    return "FakeEngine[" + process.settings() + " " + url() + "]";
  }
}
