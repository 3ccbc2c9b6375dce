package dev.warmpath.fake;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.SchedulePolicy;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.fake.umbp.UmbpReporting;
import dev.warmpath.fake.wire.CacheReport;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.fake.wire.LoadsShape;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Describes a {@link FakeEngine}; not thread-safe, usable for several starts. */
public final class FakeEngineBuilder {
  EngineKind kind = EngineKind.SGLANG;
  WorkerRole role = WorkerRole.REGULAR;
  String model = "fake-model";
  List<String> servedModels = List.of();
  List<String> loraAdapters = List.of();
  PromptEncoder encoder = FakeTokenizer.instance();
  String host = "127.0.0.1";
  int port;
  @Nullable Integer grpcPort;
  @Nullable GrpcApi grpcApi;
  @Nullable Path tokenizerFiles;
  int dpSize = 1;
  int blocks = 16_384;
  int blockSize;
  int maxNumSeqs = 256;
  int maxBatchedTokens = 8_192;
  SchedulePolicy schedulePolicy = SchedulePolicy.FCFS;
  int maxModelLen = 131_072;
  boolean prefixCaching = true;
  LatencyModel timing = LatencyModel.polynomial();
  double speedup = 1;
  EngineClock clock = EngineClock.system();
  long seed;
  @Nullable String apiKey;
  @Nullable String adminKey;
  @Nullable String version;
  CacheReport cacheReport = CacheReport.ALWAYS;
  LoadsShape loadsShape = LoadsShape.CURRENT;
  MetricNames metricNames = MetricNames.CURRENT;
  Duration metricsRefresh = Duration.ofSeconds(5);
  boolean devMode;
  @Nullable Duration healthLatency;
  @Nullable Duration disconnectDelay;
  Duration keepAlive = Duration.ofSeconds(5);
  int maxBodyBytes = 64 << 20;
  int defaultOutputTokens = 64;
  int embeddingDimensions = 64;
  @Nullable TransferProtocol transfer;
  int sideChannelPort;
  boolean handoffsBySocket;
  @Nullable HandoffTimeouts handoffTimeouts;
  KvTransfer kvTransfer = KvTransfer.INSTANT;
  String faults = "";
  @Nullable Consumer<ReceivedRequest> onRequest;
  @Nullable KvEventSettings kvEvents;
  @Nullable UmbpReporting umbp;

  FakeEngineBuilder() {}

  /**
   * Sets the engine to imitate; SGLang by default.
   *
   * @param value the kind
   * @return this
   */
  public FakeEngineBuilder kind(EngineKind value) {
    if (value == EngineKind.UNKNOWN) {
      throw new IllegalArgumentException("an unknown engine can't be imitated");
    }
    kind = Objects.requireNonNull(value, "kind");
    return this;
  }

  /**
   * Sets what the worker computes; everything by default.
   *
   * @param value the role
   * @return this
   */
  public FakeEngineBuilder role(WorkerRole value) {
    role = Objects.requireNonNull(value, "role");
    return this;
  }

  /**
   * Sets the model's path, which is also the name it is served under unless {@link #servedModels}
   * says otherwise.
   *
   * @param value a path or name
   * @return this
   */
  public FakeEngineBuilder model(String value) {
    model = Objects.requireNonNull(value, "model");
    return this;
  }

  /**
   * Sets the names the model is served under.
   *
   * @param names at least one; the first is the one reported
   * @return this
   */
  public FakeEngineBuilder servedModels(String... names) {
    servedModels = List.of(names);
    return this;
  }

  /**
   * Sets the LoRA adapters that can be named instead of the model.
   *
   * @param names their names
   * @return this
   */
  public FakeEngineBuilder loraAdapters(String... names) {
    loraAdapters = List.of(names);
    return this;
  }

  /**
   * Sets what turns prompts into token ids; {@link FakeTokenizer} by default. The prefix cache and
   * all reported token counts follow it, and answers are made of its tokens.
   *
   * @param value the encoder; engines may share one
   * @return this
   */
  public FakeEngineBuilder promptEncoder(PromptEncoder value) {
    encoder = Objects.requireNonNull(value, "encoder");
    return this;
  }

  /**
   * Sets the address to listen on; the loopback address by default.
   *
   * @param value host name or address
   * @return this
   */
  public FakeEngineBuilder host(String value) {
    host = Objects.requireNonNull(value, "host");
    return this;
  }

  /**
   * Sets the port; 0, the default, picks a free one.
   *
   * @param value a port
   * @return this
   */
  public FakeEngineBuilder port(int value) {
    port = value;
    return this;
  }

  /**
   * Serves gRPC too, beside HTTP; by default there is no gRPC server.
   *
   * @param value a port; 0 picks a free one
   * @return this
   */
  public FakeEngineBuilder grpcPort(int value) {
    grpcPort = value;
    return this;
  }

  /**
   * Sets which of the engine's gRPC servers it is; by default the one behind smg's servicer.
   *
   * @param value a server of the {@link #kind}
   * @return this
   */
  public FakeEngineBuilder grpcApi(GrpcApi value) {
    grpcApi = Objects.requireNonNull(value, "grpcApi");
    return this;
  }

  /**
   * Gives the model's files away over gRPC ({@code GetTokenizer}); by default there are none.
   *
   * @param directory where {@code tokenizer.json} and its like are
   * @return this
   */
  public FakeEngineBuilder tokenizerFiles(Path directory) {
    tokenizerFiles = Objects.requireNonNull(directory, "directory");
    return this;
  }

  /**
   * Sets the number of data-parallel ranks, each with its own scheduler and cache; 1 by default.
   *
   * @param value ranks
   * @return this
   */
  public FakeEngineBuilder dpSize(int value) {
    if (value < 1 || value > 64) {
      throw new IllegalArgumentException("dpSize must be from 1 to 64, was " + value);
    }
    dpSize = value;
    return this;
  }

  /**
   * Sets the KV blocks of each rank; 16,384 by default.
   *
   * @param value blocks
   * @return this
   */
  public FakeEngineBuilder blocks(int value) {
    blocks = value;
    return this;
  }

  /**
   * Sets the tokens in a block; by default 16 on ATOM and 64 elsewhere. (SGLang's own default is
   * pages of one token; 64 is usual with its hierarchical cache and keeps a simulated pool small.)
   *
   * @param value tokens
   * @return this
   */
  public FakeEngineBuilder blockSize(int value) {
    blockSize = value;
    return this;
  }

  /**
   * Caps the running requests of each rank; 256 by default.
   *
   * @param value requests
   * @return this
   */
  public FakeEngineBuilder maxNumSeqs(int value) {
    maxNumSeqs = value;
    return this;
  }

  /**
   * Sets the token budget of a forward pass, which is SGLang's chunk size; 8,192 by default.
   *
   * @param value tokens
   * @return this
   */
  public FakeEngineBuilder maxBatchedTokens(int value) {
    maxBatchedTokens = value;
    return this;
  }

  /**
   * Sets the order of SGLang's waiting queue; first come, first served by default.
   *
   * @param value the policy
   * @return this
   */
  public FakeEngineBuilder schedulePolicy(SchedulePolicy value) {
    schedulePolicy = Objects.requireNonNull(value, "schedulePolicy");
    return this;
  }

  /**
   * Sets the context length; 131,072 by default.
   *
   * @param value tokens
   * @return this
   */
  public FakeEngineBuilder maxModelLen(int value) {
    maxModelLen = value;
    return this;
  }

  /**
   * Switches the prefix cache; on by default.
   *
   * @param value whether computed prefixes are found again
   * @return this
   */
  public FakeEngineBuilder prefixCaching(boolean value) {
    prefixCaching = value;
    return this;
  }

  /**
   * Sets how long forward passes take; {@link LatencyModel#polynomial()} by default.
   *
   * @param value the model, before {@link #speedup}
   * @return this
   */
  public FakeEngineBuilder timing(LatencyModel value) {
    timing = Objects.requireNonNull(value, "timing");
    return this;
  }

  /**
   * Divides all simulated times: forward passes, and the default health and disconnect delays.
   *
   * @param value a factor; 0 or less means no scaling
   * @return this
   */
  public FakeEngineBuilder speedup(double value) {
    speedup = value;
    return this;
  }

  /**
   * Sets the time the engine lives in; the machine's by default.
   *
   * @param value the clock
   * @return this
   */
  public FakeEngineBuilder clock(EngineClock value) {
    clock = Objects.requireNonNull(value, "clock");
    return this;
  }

  /**
   * Sets what decides random ids and fault rates; 0 by default. Answers do not depend on it.
   *
   * @param value any number
   * @return this
   */
  public FakeEngineBuilder seed(long value) {
    seed = value;
    return this;
  }

  /**
   * Requires a key, on the endpoints where the imitated engine does; ATOM never does.
   *
   * @param value the key, or null for none
   * @return this
   */
  public FakeEngineBuilder apiKey(@Nullable String value) {
    apiKey = value;
    return this;
  }

  /**
   * Requires another key on SGLang's admin endpoints.
   *
   * @param value the key, or null for none
   * @return this
   */
  public FakeEngineBuilder adminKey(@Nullable String value) {
    adminKey = value;
    return this;
  }

  /**
   * Sets the version that the engine reports.
   *
   * @param value a version
   * @return this
   */
  public FakeEngineBuilder version(String value) {
    version = Objects.requireNonNull(value, "version");
    return this;
  }

  /**
   * Sets when usage reports cached tokens; always by default. ATOM has no such switch.
   *
   * @param value when
   * @return this
   */
  public FakeEngineBuilder cacheReport(CacheReport value) {
    cacheReport = Objects.requireNonNull(value, "cacheReport");
    return this;
  }

  /**
   * Sets the version of SGLang's {@code /v1/loads}; the current one by default.
   *
   * @param value the shape
   * @return this
   */
  public FakeEngineBuilder loadsShape(LoadsShape value) {
    loadsShape = Objects.requireNonNull(value, "loadsShape");
    return this;
  }

  /**
   * Sets the generation of metric names; the current one by default.
   *
   * @param value the names
   * @return this
   */
  public FakeEngineBuilder metricNames(MetricNames value) {
    metricNames = Objects.requireNonNull(value, "metricNames");
    return this;
  }

  /**
   * Sets how often ATOM refreshes its metrics; 5 s by default.
   *
   * @param value the interval, more than zero
   * @return this
   */
  public FakeEngineBuilder metricsRefresh(Duration value) {
    if (value.isZero() || value.isNegative()) {
      throw new IllegalArgumentException("metricsRefresh must be more than zero");
    }
    metricsRefresh = value;
    return this;
  }

  /**
   * Switches vLLM's development routes (flush, pause, sleep, abort, server info); off by default.
   *
   * @param value whether they exist
   * @return this
   */
  public FakeEngineBuilder devMode(boolean value) {
    devMode = value;
    return this;
  }

  /**
   * Sets how long SGLang's health probe takes; 1 s over the speed-up by default.
   *
   * @param value the latency
   * @return this
   */
  public FakeEngineBuilder healthLatency(Duration value) {
    healthLatency = Objects.requireNonNull(value, "healthLatency");
    return this;
  }

  /**
   * Sets how long a request goes on to run after its client disconnected. By default nothing on
   * vLLM and ATOM; on SGLang 2 s for streams and 4 s for plain requests, over the speed-up.
   *
   * @param value the delay for both
   * @return this
   */
  public FakeEngineBuilder disconnectDelay(Duration value) {
    disconnectDelay = Objects.requireNonNull(value, "disconnectDelay");
    return this;
  }

  /**
   * Sets how long idle HTTP connections stay open; 5 s by default, as on all three engines.
   *
   * @param value the time
   * @return this
   */
  public FakeEngineBuilder keepAlive(Duration value) {
    keepAlive = Objects.requireNonNull(value, "keepAlive");
    return this;
  }

  /**
   * Sets the largest request body; 64 MB by default.
   *
   * @param value bytes
   * @return this
   */
  public FakeEngineBuilder maxBodyBytes(int value) {
    maxBodyBytes = value;
    return this;
  }

  /**
   * Sets the length of answers to requests that name no limit; 64 tokens by default.
   *
   * @param value tokens
   * @return this
   */
  public FakeEngineBuilder defaultOutputTokens(int value) {
    defaultOutputTokens = value;
    return this;
  }

  /**
   * Sets the length of embedding vectors; 64 by default.
   *
   * @param value dimensions
   * @return this
   */
  public FakeEngineBuilder embeddingDimensions(int value) {
    embeddingDimensions = value;
    return this;
  }

  /**
   * Sets how a prefill or decode worker hands KV over; by default SGLang's rooms, vLLM's NIXL pull
   * and ATOM's only way.
   *
   * @param value a protocol of the imitated engine
   * @return this
   */
  public FakeEngineBuilder transfer(TransferProtocol value) {
    transfer = Objects.requireNonNull(value, "transfer");
    return this;
  }

  /**
   * Sets where the other side finds a prefill or decode worker: the port of SGLang's and Mooncake's
   * bootstrap server, of NIXL's side channel, of MoRIIO's and ATOM's handshake, of P2pNccl. On an
   * SGLang decode worker it is what it takes for prefill's where a request names none.
   *
   * @param value a port; 0, the default, picks a free one
   * @return this
   */
  public FakeEngineBuilder sideChannelPort(int value) {
    sideChannelPort = value;
    return this;
  }

  /**
   * Has a decode worker meet prefill workers of its own process by their side channels' sockets, as
   * it meets those of others. By default it takes the shorter way, which costs no requests.
   *
   * @param value whether to go by sockets
   * @return this
   */
  public FakeEngineBuilder handoffsBySocket(boolean value) {
    handoffsBySocket = value;
    return this;
  }

  /**
   * Sets how long a prefill or decode worker waits for the other one.
   *
   * @param value the timeouts, of the wall clock; default those of the engine's connector
   * @return this
   */
  public FakeEngineBuilder handoffTimeouts(HandoffTimeouts value) {
    handoffTimeouts = Objects.requireNonNull(value, "handoffTimeouts");
    return this;
  }

  /**
   * Sets the link that a prefill worker sends KV over.
   *
   * @param value size and bandwidth, before the speedup; default no delay
   * @return this
   */
  public FakeEngineBuilder kvTransfer(KvTransfer value) {
    kvTransfer = Objects.requireNonNull(value, "kvTransfer");
    return this;
  }

  /**
   * Arms faults from the start.
   *
   * @param spec as {@link Fault#parse} reads it, or an empty text for none
   * @return this
   */
  public FakeEngineBuilder faults(String spec) {
    if (!spec.isEmpty()) {
      Fault.parse(spec);
    }
    faults = spec;
    return this;
  }

  /**
   * Publishes changes of the KV cache over ZeroMQ; nothing is published by default.
   *
   * @param value how and where
   * @return this
   */
  public FakeEngineBuilder kvEvents(KvEventSettings value) {
    kvEvents = Objects.requireNonNull(value, "kvEvents");
    return this;
  }

  /**
   * Tells a UMBP master of the KV cache; nobody is told by default.
   *
   * @param value whom, and as whom
   * @return this
   */
  public FakeEngineBuilder umbp(UmbpReporting value) {
    umbp = Objects.requireNonNull(value, "umbp");
    return this;
  }

  /**
   * Shows every request to an observer before it is handled.
   *
   * @param observer called on the server's thread, must not block; may arm faults for the very
   *     request it sees
   * @return this
   */
  public FakeEngineBuilder onRequest(Consumer<ReceivedRequest> observer) {
    onRequest = Objects.requireNonNull(observer, "observer");
    return this;
  }

  /**
   * Binds the port and starts the engine.
   *
   * @return the running engine
   * @throws java.io.UncheckedIOException if a port can't be bound
   * @throws IllegalArgumentException if a setting is out of range
   */
  public FakeEngine start() {
    return new FakeEngine(new EngineProcess(this));
  }
}
