package dev.warmpath.examples;

import dev.warmpath.fake.lab.FleetRun;
import dev.warmpath.fake.lab.FleetSuite;
import dev.warmpath.fake.study.StudyPolicies;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.policy.Policies;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of the fleet study, and the study. */
final class FleetSuiteOptions {
  private static final Pattern CELL = Pattern.compile("([a-z]+)\\(?([0-9.]+)\\)?");

  /** This project's policies that the tables have by default. */
  private static final List<String> OWN =
      List.of("warmpath:homing", "warmpath:cache_aware", "warmpath:linear_cost");

  /** A workload of the suite. */
  private record Cell(String name, double factor) {
    boolean needsTraces() {
      return name.equals("conv") || name.equals("synth");
    }
  }

  @Option(
      names = "--suite",
      paramLabel = "NAME",
      description =
          "fleet: the study of one fleet with many clients, 16 workers with 16 requests a second"
              + " or so each, this project's policies (warmpath:NAME) beside frozen ones of others")
  private @Nullable String suite;

  @Option(
      names = "--traces",
      paramLabel = "DIR",
      description =
          "for --suite: the folder with Mooncake's conversation_trace.jsonl and"
              + " synthetic_trace.jsonl (default: $WARMPATH_TRACES; without it they are left out)")
  private @Nullable Path traces;

  @Option(
      names = "--cells",
      split = ",",
      paramLabel = "W",
      defaultValue = "sess14,conv10,rag16,synth12,flash8",
      description =
          "for --suite: workloads, each with its requests a second for a worker or its speedup"
              + " (default: ${DEFAULT-VALUE})")
  private List<String> cells = List.of();

  @Option(
      names = "--preset",
      paramLabel = "NAME",
      defaultValue = "study",
      description =
          "for --suite: study, workers and polls of the study, or product, vLLM's scheduler and"
              + " default polling, for this project's policies only (default: ${DEFAULT-VALUE})")
  private String preset = "study";

  @Option(
      names = "--sticky",
      description =
          "each conversation's requests all come to one client, as to the processes of bench"
              + " --processes; else each request comes to a client at random")
  private boolean sticky;

  @Mixin private IncidentOptions incidents = new IncidentOptions();

  /** Whether a suite is asked for. */
  boolean asked() {
    if (suite != null && !suite.equals("fleet")) {
      throw CommandFailure.usage("unknown suite '" + suite + "'; there is: fleet");
    }
    return suite != null;
  }

  /** Whether conversations stay with a client. */
  boolean sticky() {
    return sticky;
  }

  private FleetSuite.Preset preset() {
    return switch (preset) {
      case "study" -> FleetSuite.Preset.STUDY;
      case "product" -> FleetSuite.Preset.PRODUCT;
      default -> throw CommandFailure.usage("--preset is study or product, was '" + preset + "'");
    };
  }

  /** The policies that the tables have unless others are named. */
  List<String> standardPolicies() {
    List<String> all = new ArrayList<>();
    if (preset() == FleetSuite.Preset.STUDY && !disturbed()) {
      all.addAll(StudyPolicies.names());
    }
    all.addAll(OWN);
    return all;
  }

  private @Nullable Path traces() {
    String folder = System.getenv("WARMPATH_TRACES");
    return traces == null && folder != null ? Path.of(folder) : traces;
  }

  private List<Cell> parsed() {
    List<Cell> parsed = new ArrayList<>();
    for (String text : cells) {
      Matcher matcher = CELL.matcher(text);
      if (!matcher.matches() || !StudyWorkload.NAMES.contains(matcher.group(1))) {
        throw CommandFailure.usage(
            "unknown workload '" + text + "'; known are " + StudyWorkload.NAMES + ", as in sess14");
      }
      Cell cell = new Cell(matcher.group(1), Double.parseDouble(matcher.group(2)));
      if (!cell.needsTraces() || traces() != null) {
        parsed.add(cell);
      }
    }
    if (parsed.isEmpty()) {
      throw CommandFailure.usage("these workloads need --traces");
    }
    return parsed;
  }

  /** Runs the suite. */
  FleetTables run(List<String> policies, List<Integer> clients, long seed, int seeds)
      throws IOException {
    for (String policy : policies) {
      try {
        FleetSuite.requirePolicy(policy);
      } catch (IllegalArgumentException e) {
        throw CommandFailure.usage(String.valueOf(e.getMessage()));
      }
      boolean ownOnly = preset() == FleetSuite.Preset.PRODUCT || disturbed();
      if (ownOnly && !policy.startsWith(FleetSuite.OWN)) {
        throw CommandFailure.usage(
            "--preset product, --restart-every and --incident run this project's policies only, not"
                + " "
                + policy);
      }
    }
    Progress progress = new Progress();
    List<FleetCell> done = new ArrayList<>();
    for (Cell cell : parsed()) {
      List<StudyWorkload> drawn = new ArrayList<>();
      for (int i = 0; i < seeds; i++) {
        drawn.add(StudyWorkload.draw(cell.name(), cell.factor(), workers(), seed + i, traces()));
      }
      for (String policy : policies) {
        for (int count : clients) {
          progress.show(cell.name() + ": " + policy + ", " + count + " clients");
          List<FleetRun> runs = new ArrayList<>();
          for (int i = 0; i < seeds; i++) {
            runs.add(run(policy, count, seed + i, drawn.get(i)));
          }
          done.add(new FleetCell(drawn.get(0).name(), policy, count, runs));
        }
      }
    }
    progress.clear();
    return new FleetTables(done);
  }

  private static int workers() {
    return StudySettings.STUDY.workers();
  }

  private FleetRun run(String policy, int clients, long seed, StudyWorkload workload) {
    StudySettings settings =
        StudySettings.STUDY.withClients(clients).withSeed(seed).withSticky(sticky);
    if (!disturbed()) {
      return new FleetRun(FleetSuite.run(preset(), settings, policy, workload), List.of());
    }
    return FleetSuite.run(
        settings,
        Policies.parse(policy.substring(FleetSuite.OWN.length())),
        workload,
        incidents.of(workload, workers()));
  }

  /** Whether things happen to workers, so that requests may fail. */
  boolean disturbed() {
    boolean any = incidents.any(workers());
    if (any && preset() == FleetSuite.Preset.PRODUCT) {
      throw CommandFailure.usage("--restart-every and --incident take --preset study");
    }
    return any;
  }

  /** What was run, in a sentence. */
  String description(long seed, int seeds) {
    return String.format(
        Locale.ROOT,
        "%d workers with a million tokens of cache each, %s; %s%s; %s.",
        workers(),
        preset() == FleetSuite.Preset.STUDY
            ? "the study's pass model, polled every 250 ms"
            : "vLLM's scheduler, polled as by default",
        sticky ? "conversations stay with a client" : "each request comes to a client at random",
        incidents.text(),
        seeds == 1 ? "seed " + seed : "seeds " + seed + " to " + (seed + seeds - 1));
  }
}
