package dev.warmpath.fake.lab;

import dev.warmpath.fake.lab.FleetSuite.Preset;
import dev.warmpath.fake.study.StudyPolicies;
import dev.warmpath.fake.study.StudyResult;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Runs of the fleet study that assertions are made of: each is run once and remembered. */
final class FleetRuns {
  private final StudySettings settings;
  private final int seeds;
  private final @Nullable Path traces;
  private final boolean oneNaming;
  private final Map<String, List<StudyResult>> done = new HashMap<>();

  FleetRuns(StudySettings settings, int seeds, @Nullable Path traces) {
    this(settings, seeds, traces, false);
  }

  /**
   * Runs of one fleet.
   *
   * @param oneNaming whether a trace's blocks go by the same names with every seed
   */
  FleetRuns(StudySettings settings, int seeds, @Nullable Path traces, boolean oneNaming) {
    this.settings = settings;
    this.seeds = seeds;
    this.traces = traces;
    this.oneNaming = oneNaming;
  }

  /** A figure's mean over the seeds. */
  record Cell(List<StudyResult> runs) {
    double mean(ToDoubleFunction<StudyResult> value) {
      return runs.stream().mapToDouble(value).average().orElseThrow();
    }

    double hit() {
      return mean(StudyResult::hitRate);
    }

    double ttft() {
      return mean(StudyResult::meanMs);
    }

    double p99() {
      return mean(StudyResult::p99Ms);
    }
  }

  private Cell cell(
      String key,
      String workload,
      double factor,
      int clients,
      StudySettings base,
      java.util.function.BiFunction<StudySettings, StudyWorkload, StudyResult> run) {
    List<StudyResult> runs =
        done.computeIfAbsent(
            key + " " + workload + factor + " " + clients,
            unused -> {
              List<StudyResult> fresh = new ArrayList<>();
              for (int seed = 1; seed <= seeds; seed++) {
                fresh.add(
                    run.apply(
                        base.withClients(clients).withSeed(seed), draw(workload, factor, seed)));
              }
              show(key + " " + workload + factor + " N=" + clients, new Cell(fresh));
              return fresh;
            });
    return new Cell(runs);
  }

  /** Prints what a cell came to where the whole study is asked for: bounds alone say little. */
  private static void show(String name, Cell cell) {
    if (System.getProperty("warmpath.fleet") != null) {
      System.out.printf(
          Locale.ROOT,
          "%s: %.3f / %.0f / %.0f, CoV %.3f, largest share %.3f%n",
          name,
          cell.hit(),
          cell.ttft(),
          cell.p99(),
          cell.mean(StudyResult::cov),
          cell.mean(StudyResult::maxShare));
    }
  }

  private StudyWorkload draw(String workload, double factor, int seed) {
    try {
      int names = oneNaming ? 0 : seed;
      return StudyWorkload.draw(workload, factor, settings.workers(), seed, names, traces);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Cell homing(String workload, double factor, int clients) {
    return own("homing", Policies.homing(), workload, factor, clients, of -> List.of());
  }

  /** A policy of this project, while things happen to workers. */
  Cell own(
      String key,
      RoutingPolicy policy,
      String workload,
      double factor,
      int clients,
      Function<StudyWorkload, List<LabIncident>> incidents) {
    return cell(
        key,
        workload,
        factor,
        clients,
        settings,
        (of, drawn) -> FleetSuite.run(of, policy, drawn, incidents.apply(drawn)).result());
  }

  /** Homing with clients that look at workers at another pace. */
  Cell polled(double pollMs, String workload, double factor, int clients) {
    return cell(
        "homing polled every " + pollMs,
        workload,
        factor,
        clients,
        settings.withPollMs(pollMs),
        (of, drawn) -> FleetSuite.run(of, Policies.homing(), drawn, List.of()).result());
  }

  Cell frozen(String policy, String workload, double factor, int clients) {
    return cell(
        policy,
        workload,
        factor,
        clients,
        settings,
        (of, drawn) -> FleetSuite.run(Preset.STUDY, of, policy, drawn));
  }

  /** The frozen policy with the least mean time to the first token that knows only its own. */
  Cell bestPrivate(String workload, double factor, int clients) {
    return StudyPolicies.PRIVATE.stream()
        .map(policy -> frozen(policy, workload, factor, clients))
        .min(Comparator.comparingDouble(Cell::ttft))
        .orElseThrow();
  }
}
