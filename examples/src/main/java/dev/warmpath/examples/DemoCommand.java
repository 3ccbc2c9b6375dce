package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.load.Workloads;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows what routing does, with nothing but this jar. */
@Command(
    name = "demo",
    description =
        "Starts fake engines on loopback, sends them multi-turn chats over real HTTP under"
            + " several policies, and compares them.")
final class DemoCommand implements Callable<Integer> {
  /**
   * 49,152 tokens of cache each: a quarter of the chats under way fits into one, all of them do
   * not.
   */
  private static final int BLOCKS = 768;

  private static final double SPEEDUP = 4;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private RouterOptions router = new RouterOptions();
  @Mixin private TransferOptions transfer = new TransferOptions();

  @Option(
      names = "--fleet",
      paramLabel = "SPEC",
      defaultValue = "4",
      description = "how many engines, such as 4, or 2p2d (default: ${DEFAULT-VALUE})")
  private String fleetSpec = "4";

  @Option(
      names = "--policy",
      split = ",",
      paramLabel = "P",
      defaultValue = "round_robin,power_of_two,cache_aware,linear_cost,homing",
      description = "the policies to compare (default: ${DEFAULT-VALUE})")
  private List<String> policies = List.of();

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "independent router clients, as in so many replicas of a service: each sees its share of"
              + " the requests (default: ${DEFAULT-VALUE})")
  private int clients = 4;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "decides the chats and every random choice (default: ${DEFAULT-VALUE})")
  private long seed = 1;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      defaultValue = "warmpath-demo.html",
      description = "the HTML report (default: ${DEFAULT-VALUE})")
  private Path report = Path.of("warmpath-demo.html");

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    if (clients < 1) {
      throw CommandFailure.usage("--clients must be at least 1");
    }
    policies.forEach(dev.warmpath.policy.Policies::parse);
    HtmlReport.requireWritable(report);
    FleetSpec of = FleetWorkers.parse(fleetSpec);
    TransferProtocol protocol = transfer.protocol();
    EngineKind engine = protocol == null ? EngineKind.SGLANG : protocol.engine();
    List<TraceSession> sessions =
        Workloads.draw(
            "closed",
            Map.of("sessions", "64", "turns", "5", "think", "0.5", "prompts", "16", "zipf", "0.6"),
            seed);
    LoadSettings settings =
        new LoadSettings(
            "fake-model",
            24,
            SPEEDUP,
            true,
            Integer.MAX_VALUE,
            64,
            false,
            Duration.ofMinutes(2),
            seed);
    List<LoadResult> results;
    try (FakeFleet fleet =
        FakeFleet.start(
            of,
            builder -> {
              transfer
                  .apply(builder)
                  .kind(engine)
                  .model("fake-model")
                  .blocks(BLOCKS)
                  .speedup(SPEEDUP);
              router.models().values().stream()
                  .findFirst()
                  .ifPresent(files -> builder.promptEncoder(new ModelPromptEncoder(files, engine)));
              return builder;
            })) {
      List<WorkerSpec> workers = FleetWorkers.of(fleet, null);
      results =
          new BenchRun(
                  router,
                  workers,
                  settings,
                  sessions,
                  clients,
                  BenchEvents.NONE,
                  fleet::flushAll,
                  null)
              .run(policies, seed, null);
    }
    HtmlReport.write(report, "warmpath demo", "demo", results);
    ObjectNode document = Comparison.document(results);
    document.put("report", report.toString());
    document.put("seed", seed);
    document.put("clients", clients);
    spec.commandLine()
        .getOut()
        .println(
            json
                ? Json.document(document)
                : "Fake engines on loopback ("
                    + fleetSpec
                    + "), "
                    + sessions.size()
                    + " multi-turn chats, 24 at a time, through "
                    + clients
                    + " router clients and real HTTP; engines run at "
                    + (int) SPEEDUP
                    + " times their modelled speed."
                    + System.lineSeparator()
                    + System.lineSeparator()
                    + Comparison.table(results)
                    + System.lineSeparator()
                    + "report: "
                    + report);
    long failed = results.stream().mapToLong(LoadResult::failed).sum();
    if (failed > 0) {
      throw CommandFailure.work(failed + " request(s) failed");
    }
    return 0;
  }
}
