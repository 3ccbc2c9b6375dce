package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.Measurements;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.text.FakePromptSource;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.WorkerSpec;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Sends load to workers, real or fake, and compares policies. */
@Command(
    name = "bench",
    description =
        "Sends a workload under each policy, with caches flushed in between, and compares them.")
final class BenchCommand implements Callable<Integer> {
  /** What processes that send a share are not told, or told otherwise. */
  private static final Set<String> OWN =
      Set.of(
          "--fleet",
          "--grpc",
          "--processes",
          "--report",
          "--policy",
          "--json",
          "--events",
          "--model");

  private static final String USUAL_API = "smg";

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private RouterOptions router = new RouterOptions();
  @Mixin private LoadOptions load = new LoadOptions();
  @Mixin private FakeOptions fake = new FakeOptions();
  @Mixin private TransferOptions transfer = new TransferOptions();
  @Mixin private KnowledgeLoadOptions knowledge = new KnowledgeLoadOptions();

  @Option(
      names = "--fleet",
      paramLabel = "SPEC",
      description = "in place of --worker: fake engines in this process, such as 4, or 2p2d")
  private @Nullable String fleet;

  @Option(
      names = "--grpc",
      paramLabel = "API",
      arity = "0..1",
      fallbackValue = USUAL_API,
      description =
          "reaches the engines of --fleet over gRPC: smg's servicers, or the API that is named, as"
              + " in fake --grpc-api")
  private @Nullable String grpc;

  @Option(
      names = "--policy",
      split = ",",
      paramLabel = "P",
      description = "a policy, such as cache_aware or pin>linear_cost; repeat to compare")
  private List<String> policies = new ArrayList<>();

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "1",
      description = "independent router clients in this process (default: ${DEFAULT-VALUE})")
  private int clients = 1;

  @Option(
      names = "--processes",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "processes that send the load, each its share of the sessions through --clients routers"
              + " of its own (default: ${DEFAULT-VALUE})")
  private int processes = 1;

  @Option(names = "--share", hidden = true)
  private @Nullable String share;

  @Option(names = "--measured", hidden = true)
  private Path measured = Path.of("measured.bin");

  @Option(names = "--told", hidden = true)
  private boolean told;

  @Option(names = "--fake-tokens", hidden = true)
  private boolean fakeTokens;

  @Option(
      names = "--events",
      description =
          "runs each policy a second time with the engines' KV events, and shows both; of real"
              + " workers it takes --model-dir")
  private boolean events;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      defaultValue = "warmpath-bench.html",
      description = "the HTML report (default: ${DEFAULT-VALUE})")
  private Path report = Path.of("warmpath-bench.html");

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  /** What nodes have delivered, once the policies have run. */
  private @Nullable BenchKnowledge delivered;

  @Override
  public Integer call() throws Exception {
    if (load.wantsList()) {
      spec.commandLine().getOut().println(LoadOptions.list());
      return 0;
    }
    if (clients < 1) {
      throw CommandFailure.usage("--clients must be at least 1");
    }
    if (processes < 1) {
      throw CommandFailure.usage("--processes must be at least 1");
    }
    if ((fleet != null) == router.given()) {
      throw CommandFailure.usage("give --worker URL or --fleet SPEC, one of them");
    }
    if (fleet != null && router.asksMaster()) {
      throw CommandFailure.usage("--umbp takes --worker: engines of --fleet tell no master");
    }
    if (fleet == null && grpc != null) {
      throw CommandFailure.usage("--grpc takes --fleet: of real workers name --worker grpc://...");
    }
    if (knowledge.given() && (fleet == null || processes > 1)) {
      throw CommandFailure.usage("--knowledge takes --fleet, and one process");
    }
    List<String> compared = policies.isEmpty() ? List.of(Policies.standard().name()) : policies;
    compared.forEach(Policies::parse);
    if (events && fleet == null && router.models().isEmpty()) {
      throw CommandFailure.usage("--events takes --model-dir: events tell of tokens");
    }
    List<TraceSession> sessions = load.sessions();
    LoadSettings settings = knowledge.settings(load.settings(fake.model()));
    if (share != null) {
      part(BenchShare.parse(share), settings, sessions, compared.get(0));
      return 0;
    }
    HtmlReport.requireWritable(report);
    List<LoadResult> results =
        fleet == null ? real(settings, sessions, compared) : fake(settings, sessions, compared);
    String title = "warmpath bench";
    HtmlReport.write(report, title, spec.commandLine().getCommandName(), results);
    ObjectNode document = Comparison.document(results);
    BenchKnowledge nodes = delivered;
    if (nodes != null) {
      document.path("policies").forEach(policy -> nodes.addTo((ObjectNode) policy));
    }
    document.put("report", report.toString());
    document.put("seed", load.seed());
    ObjectNode errors = document.putObject("errors");
    for (LoadResult result : results) {
      result.errors().forEach((kind, n) -> errors.put(kind, errors.path(kind).asLong() + n));
    }
    spec.commandLine()
        .getOut()
        .println(
            json
                ? Json.document(document)
                : Comparison.table(results)
                    + System.lineSeparator()
                    + (nodes == null ? "" : nodes.table() + System.lineSeparator())
                    + "report: "
                    + report);
    long failed = results.stream().mapToLong(LoadResult::failed).sum();
    if (failed > 0) {
      throw CommandFailure.work(failed + " request(s) failed: " + errors);
    }
    return 0;
  }

  private List<LoadResult> fake(
      LoadSettings settings, List<TraceSession> sessions, List<String> compared)
      throws InterruptedException, IOException {
    FleetSpec of = FleetWorkers.parse(java.util.Objects.requireNonNull(fleet));
    GrpcApi api = api();
    if (knowledge.given() && of.prefill() > 0) {
      throw CommandFailure.usage("--knowledge takes a fleet of regular workers");
    }
    if (api != null && of.prefill() > 0) {
      throw CommandFailure.usage("--grpc takes a fleet of regular workers");
    }
    try (FakeFleet engines = FakeFleet.start(of, builder -> configure(builder, api));
        BenchKnowledge documents = knowledge.start(engines, sessions, settings)) {
      List<WorkerSpec> workers = FleetWorkers.of(engines, api);
      BenchEvents heard = new BenchEvents(events, knowsTokens() ? new FakePromptSource() : null);
      List<LoadResult> results =
          new BenchRun(
                  router, workers, settings, sessions, clients, heard, engines::flushAll, documents)
              .run(compared, load.seed(), processes(workers, settings.model()));
      delivered = documents;
      return results;
    }
  }

  /** The gRPC service that fake engines are reached by, or null for HTTP. */
  private @Nullable GrpcApi api() {
    if (grpc == null) {
      return null;
    }
    EngineKind engine = fake.kind();
    try {
      GrpcApi api =
          grpc.equals(USUAL_API)
              ? GrpcApi.of(engine)
              : GrpcApi.valueOf(grpc.toUpperCase(Locale.ROOT));
      if (api.engine() == engine) {
        return api;
      }
    } catch (IllegalArgumentException e) {
      // said below
    }
    throw CommandFailure.usage("--grpc " + grpc + " is no gRPC server of " + engine.label());
  }

  /** Whether clients are told the tokens of fake engines: for their events, and for gRPC. */
  private boolean knowsTokens() {
    return fleet != null && (events || grpc != null);
  }

  private FakeEngineBuilder configure(FakeEngineBuilder builder, @Nullable GrpcApi api) {
    FakeEngineBuilder with = transfer.apply(fake.apply(builder, load.speedup()));
    if (api != null) {
      with.grpcPort(0).grpcApi(api);
    }
    return events ? with.kvEvents(KvEventSettings.builder().replayPort(0).build()) : with;
  }

  private List<LoadResult> real(
      LoadSettings settings, List<TraceSession> sessions, List<String> compared)
      throws InterruptedException, IOException {
    List<WorkerSpec> workers = router.workers();
    try (RouterClient admin = router.client(workers, null).build()) {
      if (!admin.awaitReady(Duration.ofSeconds(10))) {
        throw CommandFailure.work("no worker is up: " + Views.reasons(admin));
      }
      Views.awaitLooked(admin, Duration.ofSeconds(5));
      String model =
          admin.models().stream().map(ServedModel::id).findFirst().orElse(settings.model());
      LoadSettings named =
          new LoadSettings(
              model,
              settings.concurrency(),
              settings.speedup(),
              settings.stream(),
              settings.maxRequests(),
              settings.maxOutputTokens(),
              settings.sessionKeys(),
              settings.deadline(),
              settings.seed());
      return new BenchRun(
              router,
              workers,
              named,
              sessions,
              clients,
              new BenchEvents(events, null),
              () -> CacheFlush.all(admin, spec.commandLine().getErr()),
              null)
          .run(compared, load.seed(), processes(List.of(), model));
    }
  }

  /**
   * What runs policies in other processes, or null where one is enough.
   *
   * @param workers those that no option names
   */
  private @Nullable BenchProcesses processes(List<WorkerSpec> workers, String model) {
    if (processes == 1) {
      return null;
    }
    List<String> arguments = new ArrayList<>();
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      if (OWN.contains(option.longestName())) {
        continue;
      }
      if (option.arity().max() == 0) {
        arguments.add(option.longestName());
        continue;
      }
      for (String value : option.originalStringValues()) {
        arguments.add(option.longestName());
        arguments.add(value);
      }
    }
    for (WorkerSpec worker : workers) {
      arguments.add("--worker");
      arguments.add(FleetWorkers.line(worker));
    }
    if (knowsTokens()) {
      arguments.add("--fake-tokens");
    }
    arguments.add("--model");
    arguments.add(model);
    return new BenchProcesses(arguments, processes);
  }

  /** Sends the share of one process, once the first process says so. */
  private void part(
      BenchShare share, LoadSettings settings, List<TraceSession> sessions, String policy)
      throws InterruptedException, IOException {
    BenchEvents heard = new BenchEvents(true, fakeTokens ? new FakePromptSource() : null);
    BenchChild child = new BenchChild(System.in, System.out);
    Measurements own =
        new BenchRun(
                router,
                router.workers(),
                share.settings(settings, sessions),
                share.sessions(sessions),
                clients,
                heard,
                () -> {},
                null)
            .measure(policy, told, share.seed(load.seed(), clients), child::await);
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(measured))) {
      own.write(out);
    }
    child.end();
  }
}
