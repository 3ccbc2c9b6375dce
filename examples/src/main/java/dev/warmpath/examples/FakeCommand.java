package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.kdn.FakeKdn;
import dev.warmpath.fake.kv.KvEventEncoding;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.umbp.FakeUmbpMaster;
import dev.warmpath.fake.umbp.UmbpReporting;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.worker.WorkerRole;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs one fake engine in the foreground until it is stopped. */
@Command(
    name = "fake",
    description =
        "Runs one fake engine, or a fake UMBP master or knowledge delivery node, on loopback, in the"
            + " foreground, until it is interrupted.")
final class FakeCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private FakeOptions fake = new FakeOptions();
  @Mixin private TransferOptions transfer = new TransferOptions();
  @Mixin private KdnOptions kdn = new KdnOptions();

  @Parameters(
      arity = "0..1",
      paramLabel = "WHAT",
      description =
          "umbp for a UMBP master, kdn for a knowledge delivery node; leave it out for an engine")
  private @Nullable String what;

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "0",
      description = "the port; 0 picks a free one (default: ${DEFAULT-VALUE})")
  private int port;

  @Option(
      names = "--role",
      paramLabel = "ROLE",
      defaultValue = "regular",
      description =
          "regular, prefill or decode (default: ${DEFAULT-VALUE}); prefill and decode engines find"
              + " each other by the ports of their side channels")
  private String role = "regular";

  @Option(
      names = "--side-channel-port",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "where the other side finds a prefill or decode worker: the port of SGLang's and"
              + " Mooncake's bootstrap server, of NIXL's side channel, of MoRIIO's and ATOM's"
              + " handshake, of P2pNccl; 0 picks a free one (default: ${DEFAULT-VALUE})")
  private int sideChannelPort;

  @Option(
      names = "--grpc-port",
      paramLabel = "N",
      description = "serves gRPC at this port, beside HTTP; 0 picks a free one (default: none)")
  private @Nullable Integer grpcPort;

  @Option(
      names = "--grpc-api",
      paramLabel = "API",
      description =
          "the engine's gRPC server: sglang_scheduler (smg's wire) or sglang_runtime (native),"
              + " vllm_engine (smg's wire) or vllm_inference (first-party); default: smg's wire")
  private @Nullable GrpcApi grpcApi;

  @Option(
      names = "--speedup",
      paramLabel = "X",
      defaultValue = "1",
      description = "divides all simulated times (default: ${DEFAULT-VALUE})")
  private double speedup = 1;

  @Option(
      names = "--fault",
      paramLabel = "SPEC",
      description =
          "faults, such as 5xx:rate=0.1;hang:after=10; of a UMBP master hang, lie and slow=MS,"
              + " comma-separated, and of a node hang, lie, flap and vanish=REQUESTS")
  private @Nullable String fault;

  @Option(
      names = "--kv-events-port",
      paramLabel = "N",
      description =
          "publishes KV events over ZeroMQ at this port and the ranks' after it; 0 picks free ones"
              + " (default: publishes none)")
  private @Nullable Integer kvEventsPort;

  @Option(
      names = "--kv-replay-port",
      paramLabel = "N",
      description = "the port to ask for earlier KV events at, likewise (default: none)")
  private @Nullable Integer kvReplayPort;

  @Option(
      names = "--kv-hash",
      paramLabel = "SCHEME",
      description = "hashes of KV events, as hash --scheme list names them (default: the engine's)")
  private @Nullable String kvHash;

  @Option(
      names = "--kv-hash-seed",
      paramLabel = "TEXT",
      description = "vLLM's PYTHONHASHSEED (default: unset)")
  private @Nullable String kvHashSeed;

  @Option(
      names = "--kv-encoding",
      paramLabel = "FORM",
      description = "arrays or maps (default: as the engine's version has it)")
  private @Nullable KvEventEncoding kvEncoding;

  @Option(
      names = "--umbp",
      paramLabel = "HOST:PORT",
      description = "tells this UMBP master of the engine's cache (default: none)")
  private @Nullable String umbp;

  @Option(
      names = "--umbp-node",
      paramLabel = "ID",
      description = "the node id it is told as (default: the engine's URL)")
  private @Nullable String umbpNode;

  /** Null where nothing is to be published. */
  private @Nullable KvEventSettings kvEvents() {
    if (kvEventsPort == null) {
      if (kvReplayPort != null || kvHash != null || kvHashSeed != null || kvEncoding != null) {
        throw CommandFailure.usage("options of KV events need --kv-events-port");
      }
      return null;
    }
    KvEventSettings.Builder settings = KvEventSettings.builder().port(kvEventsPort);
    if (kvReplayPort != null) {
      settings.replayPort(kvReplayPort);
    }
    if (kvHash != null) {
      settings.scheme(kvHash);
    }
    if (kvHashSeed != null) {
      settings.hashSeed(kvHashSeed);
    }
    if (kvEncoding != null) {
      settings.encoding(kvEncoding);
    }
    return settings.build();
  }

  private static void describe(ObjectNode ready, @Nullable KvEventEndpoint endpoint) {
    if (endpoint == null) {
      ready.putNull("kv_events");
      return;
    }
    ObjectNode events = ready.putObject("kv_events").put("url", endpoint.url(0));
    events.put("replay", endpoint.replayPort().isPresent() ? endpoint.replayUrl(0) : null);
  }

  @Override
  public Integer call() throws InterruptedException {
    if ("umbp".equals(what)) {
      return master();
    }
    if ("kdn".equals(what)) {
      return node();
    }
    if (what != null) {
      throw CommandFailure.usage(
          "there is no fake '" + what + "': say umbp, kdn, or nothing for an engine");
    }
    if (grpcApi != null && grpcPort == null) {
      throw CommandFailure.usage("--grpc-api needs --grpc-port");
    }
    if (port < 0 || port > 65_535) {
      throw CommandFailure.usage("--port " + port + " must be between 0 and 65535");
    }
    FakeEngineBuilder builder =
        transfer
            .apply(fake.apply(FakeEngine.builder(), speedup))
            .role(WorkerRole.parse(role))
            .sideChannelPort(sideChannelPort)
            .port(port);
    if (grpcPort != null) {
      builder.grpcPort(grpcPort);
    }
    if (grpcApi != null) {
      builder.grpcApi(grpcApi);
    }
    KvEventSettings kvEvents = kvEvents();
    if (kvEvents != null) {
      builder.kvEvents(kvEvents);
    }
    if (umbp != null) {
      builder.umbp(new UmbpReporting(umbp, umbpNode));
    } else if (umbpNode != null) {
      throw CommandFailure.usage("--umbp-node needs --umbp");
    }
    FakeEngine engine;
    try {
      engine = builder.start();
    } catch (UncheckedIOException e) {
      throw CommandFailure.work(
          kvEvents == null && grpcPort == null
              ? "port " + port + " can't be used: " + e.getMessage()
              : String.valueOf(e.getMessage()));
    }
    try (engine) {
      if (fault != null) {
        engine.faults().add(fault);
      }
      ObjectNode ready = Json.object();
      ready.put("kind", fake.kind().label());
      ready.put("url", engine.url());
      ready.put("grpc", engine.grpcUrl());
      describe(ready, engine.kvEvents());
      ready.put("worker", engine.workerSpec());
      ready.put("pid", ProcessHandle.current().pid());
      ready(ready);
    }
    return 0;
  }

  private int master() throws InterruptedException {
    FakeUmbpMaster master;
    try {
      master = FakeUmbpMaster.builder().port(port).start();
    } catch (UncheckedIOException e) {
      throw CommandFailure.work("port " + port + " can't be used: " + e.getMessage());
    }
    try (master) {
      if (fault != null) {
        UmbpFaults.apply(fault, master);
      }
      ObjectNode ready = Json.object();
      ready.put("kind", "umbp");
      ready.put("url", "grpc://" + master.address());
      ready.put("grpc", master.address());
      ready.put("pid", ProcessHandle.current().pid());
      ready(ready);
    }
    return 0;
  }

  private int node() throws InterruptedException {
    FakeKdn node;
    try {
      node = kdn.start(port, speedup);
    } catch (UncheckedIOException e) {
      throw CommandFailure.work("port " + port + " can't be used: " + e.getMessage());
    }
    try (node) {
      if (fault != null) {
        node.faults().add(fault);
      }
      ObjectNode ready = Json.object();
      ready.put("kind", "kdn");
      ready.put("url", node.url());
      ready.putNull("grpc");
      ready.put("pid", ProcessHandle.current().pid());
      ready(ready);
    }
    return 0;
  }

  /** Says that it is ready, and waits to be stopped. */
  private void ready(ObjectNode ready) throws InterruptedException {
    spec.commandLine().getOut().print(Json.line(ready));
    spec.commandLine().getOut().flush();
    CountDownLatch stopped = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(stopped::countDown));
    stopped.await();
  }
}
