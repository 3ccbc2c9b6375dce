package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.lab.Lab;
import dev.warmpath.fake.lab.LabResult;
import dev.warmpath.fake.lab.LabSettings;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.TraceSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Compares policies in virtual time. */
@Command(
    name = "lab",
    description =
        "Sends a workload through router clients to simulated workers in virtual time, under each"
            + " policy, and compares them: hours of traffic in seconds, the same for the same"
            + " seed.")
final class LabCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private LoadOptions load = new LoadOptions();
  @Mixin private FakeOptions fake = new FakeOptions();
  @Mixin private FleetSuiteOptions suite = new FleetSuiteOptions();

  @Option(
      names = "--fleet",
      paramLabel = "SPEC",
      defaultValue = "4",
      description =
          "how many workers, such as 4, or 2p2d for two prefill and two decode workers, which each"
              + " are chosen by the policy (default: ${DEFAULT-VALUE})")
  private String fleet = "4";

  @Option(
      names = "--decode-blocks",
      paramLabel = "N",
      description = "KV blocks of a decode worker's rank (default: as --blocks)")
  private @Nullable Integer decodeBlocks;

  @Option(
      names = "--policy",
      split = ",",
      paramLabel = "P",
      defaultValue = "round_robin,power_of_two,cache_aware,linear_cost,homing,oracle",
      description =
          "the policies to compare; oracle knows everything and is the ceiling (default:"
              + " ${DEFAULT-VALUE})")
  private List<String> policies = List.of();

  @Option(
      names = "--clients",
      split = ",",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "independent router clients, each seeing its share of the traffic; several numbers are"
              + " compared (default: ${DEFAULT-VALUE})")
  private List<Integer> clients = List.of(1);

  @Option(
      names = "--seeds",
      paramLabel = "N",
      defaultValue = "1",
      description = "runs with this many seeds, from --seed on (default: ${DEFAULT-VALUE})")
  private int seeds = 1;

  @Option(
      names = "--sweep",
      split = ",",
      paramLabel = "X",
      defaultValue = "1",
      description = "repeats everything at these multiples of the load (default: ${DEFAULT-VALUE})")
  private List<Double> sweep = List.of(1.0);

  @Option(
      names = "--capacity",
      split = ",",
      paramLabel = "X",
      defaultValue = "1",
      description =
          "repeats everything with these multiples of --blocks, at one load (default:"
              + " ${DEFAULT-VALUE})")
  private List<Double> capacities = List.of(1.0);

  @Option(
      names = "--warmup",
      paramLabel = "N",
      defaultValue = "0",
      description = "requests that are sent before the figures begin (default: ${DEFAULT-VALUE})")
  private int warmup;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      defaultValue = "warmpath-lab.html",
      description = "the HTML report (default: ${DEFAULT-VALUE})")
  private Path report = Path.of("warmpath-lab.html");

  @Option(names = "--csv", paramLabel = "FILE", description = "every run as a line of CSV")
  private @Nullable Path csv;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    if (load.wantsList()) {
      spec.commandLine().getOut().println(LoadOptions.list());
      return 0;
    }
    if (suite.asked()) {
      return suite();
    }
    FleetSpec of = FleetSpec.parse(fleet);
    check(of);
    HtmlReport.requireWritable(report);
    Path table = csv;
    if (table != null) {
      HtmlReport.requireWritable(table);
    }
    List<List<TraceSession>> workloads = new ArrayList<>();
    for (int i = 0; i < seeds; i++) {
      workloads.add(load.sessions(load.seed() + i));
    }
    List<LabCell> cells = cells(of, workloads);
    boolean closed = load.settings(fake.model()).concurrency() > 0;
    String axis = closed ? "conversations" : "offered req/s";
    LabReport result = new LabReport(cells, capacities.size() > 1 ? "KV blocks" : axis);
    result.write(report, description(of, workloads.get(0)));
    if (table != null) {
      Files.writeString(table, result.csv());
    }
    spec.commandLine()
        .getOut()
        .println(
            json
                ? Json.document(document(cells, result))
                : result.table() + System.lineSeparator() + "report: " + report);
    long failed =
        cells.stream().flatMap(c -> c.runs().stream()).mapToLong(r -> r.load().failed()).sum();
    if (failed > 0) {
      throw CommandFailure.work(failed + " request(s) failed");
    }
    return 0;
  }

  private Integer suite() throws IOException {
    checkCounts();
    HtmlReport.requireWritable(report);
    int times = given("--seeds") ? seeds : 3;
    FleetTables tables =
        suite.run(
            given("--policy") ? policies : suite.standardPolicies(),
            given("--clients") ? clients : List.of(1, 8, 32),
            load.seed(),
            times);
    tables.write(report, suite.description(load.seed(), times));
    ObjectNode document = tables.document();
    document.put("report", report.toString());
    spec.commandLine()
        .getOut()
        .println(
            json
                ? Json.document(document)
                : tables.text() + System.lineSeparator() + "report: " + report);
    String failures = tables.failures();
    if (failures != null && !suite.disturbed()) {
      throw CommandFailure.work(failures);
    }
    return 0;
  }

  /** Whether an option stands on the command line. */
  private boolean given(String option) {
    return spec.commandLine().getParseResult().hasMatchedOption(option);
  }

  private void checkCounts() {
    if (seeds < 1) {
      throw CommandFailure.usage("--seeds must be at least 1");
    }
    if (clients.stream().anyMatch(n -> n < 1)) {
      throw CommandFailure.usage("--clients must be at least 1");
    }
  }

  private void check(FleetSpec of) {
    try {
      settings(of, 1, 1, 1, load.seed());
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage(String.valueOf(e.getMessage()));
    }
    if (!load.settings(fake.model()).stream()) {
      throw CommandFailure.usage("lab streams every answer: leave --no-stream away");
    }
    checkCounts();
    if (sweep.stream().anyMatch(x -> !(x > 0)) || capacities.stream().anyMatch(x -> !(x > 0))) {
      throw CommandFailure.usage("--sweep and --capacity take factors of more than 0");
    }
    if (sweep.size() > 1 && capacities.size() > 1) {
      throw CommandFailure.usage("--sweep and --capacity exclude each other: give one of them");
    }
    try {
      policies.forEach(Lab::requirePolicy);
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage(String.valueOf(e.getMessage()));
    }
  }

  private List<LabCell> cells(FleetSpec of, List<List<TraceSession>> workloads) {
    Progress progress = new Progress();
    int total = policies.size() * clients.size() * sweep.size() * capacities.size() * seeds;
    int done = 0;
    List<LabCell> cells = new ArrayList<>();
    for (String policy : policies) {
      for (int count : clients) {
        for (double factor : sweep) {
          for (double capacity : capacities) {
            List<LabResult> runs = new ArrayList<>();
            for (int i = 0; i < seeds; i++) {
              progress.show("run " + ++done + " of " + total + ": " + policy);
              LabSettings settings = settings(of, count, factor, capacity, load.seed() + i);
              runs.add(Lab.run(settings, policy, workloads.get(i)));
            }
            double place =
                capacities.size() > 1 ? blocks(capacity) : offered(workloads.get(0), factor);
            cells.add(new LabCell(policy, count, place, runs));
          }
        }
      }
    }
    progress.clear();
    return cells;
  }

  private int blocks(double capacity) {
    return (int) Math.max(1, Math.round(fake.core().numBlocks() * capacity));
  }

  private LabSettings settings(FleetSpec of, int count, double factor, double capacity, long seed) {
    LoadSettings users = load.settings(fake.model());
    boolean closed = users.concurrency() > 0;
    LabSettings.Builder builder = LabSettings.builder();
    if (decodeBlocks != null) {
      builder.decodeBlocks(decodeBlocks);
    }
    return builder
        .fleet(of)
        .engine(fake.kind())
        .ranks(fake.ranks())
        .core(fake.core().toBuilder().numBlocks(blocks(capacity)).build())
        .timing(fake.timing())
        .clients(count)
        .sticky(suite.sticky())
        .seed(seed)
        .concurrency(closed ? Math.max(1, (int) Math.round(users.concurrency() * factor)) : 0)
        .speedup(closed ? users.speedup() : users.speedup() * factor)
        .warmupRequests(warmup)
        .maxRequests(users.maxRequests())
        .sessionKeys(users.sessionKeys())
        .maxOutputTokens(users.maxOutputTokens())
        .build();
  }

  /** What stands on the axis of load. */
  private double offered(List<TraceSession> sessions, double factor) {
    LoadSettings users = load.settings(fake.model());
    if (users.concurrency() > 0) {
      return Math.max(1, Math.round(users.concurrency() * factor));
    }
    long requests = sessions.stream().mapToLong(session -> session.turns().size()).sum();
    double last =
        sessions.stream()
            .mapToDouble(session -> session.turns().get(session.turns().size() - 1).arrivalMs())
            .max()
            .orElse(0);
    double span = (last - sessions.get(0).arrivalMs()) / 1e3 / users.speedup() / factor;
    return span > 0 ? requests / span : requests;
  }

  private String description(FleetSpec of, List<TraceSession> sessions) {
    long requests = sessions.stream().mapToLong(session -> session.turns().size()).sum();
    return String.format(
        Locale.ROOT,
        "%s workers of %s with %,d blocks of %d tokens a rank, timing %s; %,d sessions with %,d"
            + " requests; %s.",
        of,
        fake.kind().name().toLowerCase(Locale.ROOT),
        fake.core().numBlocks(),
        fake.core().blockSize(),
        fake.timing(),
        sessions.size(),
        requests,
        seeds == 1
            ? "seed " + load.seed()
            : "seeds " + load.seed() + " to " + (load.seed() + seeds - 1));
  }

  private ObjectNode document(List<LabCell> cells, LabReport result) throws IOException {
    ObjectNode out = Json.object();
    ArrayNode all = out.putArray("policies");
    for (LabCell cell : cells) {
      for (LabResult run : cell.runs()) {
        ObjectNode one = Json.result(run.load());
        one.put("clients", cell.clients());
        Json.put(one, "load", cell.load());
        one.put("seed", run.seed());
        Json.put(one, "virtual_seconds", run.virtualSeconds());
        Json.put(one, "of_oracle", result.ofOracle(cell));
        one.put("preemptions", run.preemptions());
        all.add(one);
      }
    }
    out.put("report", report.toString());
    out.put("seed", load.seed());
    out.put("clients", clients.get(0));
    Json.put(
        out,
        "virtual_seconds",
        cells.stream()
            .flatMap(cell -> cell.runs().stream())
            .mapToDouble(LabResult::virtualSeconds)
            .sum());
    return out;
  }
}
