package dev.warmpath.examples;

import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.MooncakeTrace;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.load.WorkloadDescription;
import dev.warmpath.fake.load.WorkloadParameter;
import dev.warmpath.fake.load.Workloads;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say what load is sent, and how. */
final class LoadOptions {
  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "a trace in Mooncake's format; \"sample\" is the bundled 500-row one")
  private @Nullable String trace;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      description =
          "sessions, rag, flash-crowd, conversation, synthetic (with --trace), closed,"
              + " shared-prefix or agents; \"list\" prints them with their parameters")
  private @Nullable String workload;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "one of the workload's parameters; repeat")
  private Map<String, String> set = new LinkedHashMap<>();

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "rows of the trace at most (default: all)")
  private @Nullable Integer rows;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description = "closed loop: sessions under way at once")
  private @Nullable Integer concurrency;

  @Option(
      names = "--rate",
      paramLabel = "R",
      description = "open loop: requests a second (default: the workload's own times)")
  private @Nullable Double rate;

  @Option(
      names = "--speedup",
      paramLabel = "X",
      defaultValue = "1",
      description =
          "divides arrival times and delays, and in a live bench the times of fake engines (default:"
              + " ${DEFAULT-VALUE})")
  private double speedup = 1;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "requests at most, of each policy (default: all)")
  private @Nullable Integer requests;

  @Option(
      names = "--max-output-tokens",
      paramLabel = "N",
      description = "cuts answers to this length (default: as the workload says)")
  private @Nullable Integer maxOutputTokens;

  @Option(names = "--no-stream", description = "whole answers: no TTFT, and retries to the end")
  private boolean whole;

  @Option(names = "--session-keys", description = "requests carry their session's key")
  private boolean sessionKeys;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "decides the workload and every random choice (default: ${DEFAULT-VALUE})")
  private long seed = 1;

  /** Whether the workloads are asked for rather than one of them. */
  boolean wantsList() {
    return "list".equals(workload);
  }

  /** The workloads with their parameters. */
  static String list() {
    StringBuilder text = new StringBuilder();
    for (WorkloadDescription workload : Workloads.descriptions()) {
      text.append(workload.name()).append(": ").append(workload.what());
      for (WorkloadParameter parameter : workload.parameters()) {
        String setting =
            parameter.key()
                + "="
                + BigDecimal.valueOf(parameter.standard()).stripTrailingZeros().toPlainString();
        text.append(String.format(Locale.ROOT, "%n  %-18s %s", setting, parameter.meaning()));
      }
      text.append(System.lineSeparator());
    }
    return text.toString().stripTrailing();
  }

  long seed() {
    return seed;
  }

  double speedup() {
    if (!(speedup > 0)) {
      throw CommandFailure.usage("--speedup must be positive");
    }
    return speedup;
  }

  List<TraceSession> sessions() throws IOException {
    return sessions(seed);
  }

  /** The sessions as another seed draws them. */
  List<TraceSession> sessions(long seed) throws IOException {
    List<TraceSession> sessions;
    if (trace != null) {
      if (workload != null && !workload.equals("synthetic") && !workload.equals("conversation")) {
        throw CommandFailure.usage("--trace and --workload " + workload + " exclude each other");
      }
      int limit = rows == null ? Integer.MAX_VALUE : rows;
      var read =
          trace.equals("sample")
              ? MooncakeTrace.sample()
              : MooncakeTrace.read(Path.of(trace), limit);
      sessions = Workloads.trace(read.subList(0, Math.min(limit, read.size())), set, seed);
    } else if (workload != null) {
      sessions = Workloads.draw(workload, set, seed);
    } else {
      throw CommandFailure.usage("say what to send with --trace FILE or --workload NAME");
    }
    return rate == null ? sessions : atRate(sessions, rate);
  }

  /** Stretches start times so that requests come at {@code rate} a second, before the speed-up. */
  private static List<TraceSession> atRate(List<TraceSession> sessions, double rate) {
    if (!(rate > 0)) {
      throw CommandFailure.usage("--rate must be positive");
    }
    long requests = sessions.stream().mapToLong(session -> session.turns().size()).sum();
    double first = sessions.get(0).arrivalMs();
    double span = sessions.get(sessions.size() - 1).arrivalMs() - first;
    double factor = span > 0 ? 1e3 * requests / rate / span : 0;
    return sessions.stream()
        .map(session -> session.startingAt((session.arrivalMs() - first) * factor))
        .toList();
  }

  LoadSettings settings(String model) {
    if (concurrency != null && rate != null) {
      throw CommandFailure.usage("--concurrency is a closed loop, --rate an open one: give one");
    }
    if (concurrency != null && concurrency < 1) {
      throw CommandFailure.usage("--concurrency must be at least 1");
    }
    boolean closed = "closed".equals(workload) && rate == null;
    return new LoadSettings(
        model,
        concurrency != null ? concurrency : closed ? 16 : 0,
        speedup(),
        !whole,
        requests == null ? Integer.MAX_VALUE : requests,
        maxOutputTokens == null ? Integer.MAX_VALUE : maxOutputTokens,
        sessionKeys,
        Duration.ofMinutes(10),
        seed);
  }
}
