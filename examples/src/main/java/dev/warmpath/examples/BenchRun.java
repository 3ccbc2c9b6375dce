package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.fake.load.LoadGenerator;
import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.Measurements;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.health.WorkerView;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sends one workload under several policies, one after another, with caches flushed in between. */
final class BenchRun {
  private final RouterOptions options;
  private final List<WorkerSpec> workers;
  private final LoadSettings settings;
  private final List<TraceSession> sessions;
  private final int clients;
  private final BenchEvents events;
  private final Runnable flush;
  private final @Nullable BenchKnowledge knowledge;
  private final Progress progress = new Progress();

  BenchRun(
      RouterOptions options,
      List<WorkerSpec> workers,
      LoadSettings settings,
      List<TraceSession> sessions,
      int clients,
      BenchEvents events,
      Runnable flush,
      @Nullable BenchKnowledge knowledge) {
    this.options = options;
    this.workers = knowledge == null ? workers : knowledge.workers(workers);
    this.settings = settings;
    this.sessions = sessions;
    this.clients = clients;
    this.events = events;
    this.flush = flush;
    this.knowledge = knowledge;
  }

  /**
   * Runs the policies one after another.
   *
   * @param processes runs them in other processes, or null for this one
   */
  List<LoadResult> run(List<String> policies, long seed, @Nullable BenchProcesses processes)
      throws InterruptedException, IOException {
    List<LoadResult> results = new ArrayList<>();
    for (String policy : policies) {
      for (int told = 0; told <= (events.compared() ? 1 : 0); told++) {
        boolean hearing = told > 0;
        String name = hearing ? policy + " + events" : policy;
        flush.run();
        // Who joined late knows from a flush on that it knows all.
        Runnable begin = hearing ? flush : () -> {};
        if (knowledge != null) {
          knowledge.begin();
        }
        results.add(
            processes == null
                ? measure(policy, hearing, seed, begin).result(name)
                : processes.run(policy, name, hearing, begin));
        if (knowledge != null) {
          knowledge.end(name);
        }
      }
    }
    progress.clear();
    return results;
  }

  /**
   * Runs a policy in this process.
   *
   * @param told whether routers hear KV events
   * @param begin called when all routers are connected
   */
  Measurements measure(String policy, boolean told, long seed, Runnable begin)
      throws InterruptedException {
    long requests =
        Math.min(
            settings.maxRequests(),
            sessions.stream().mapToLong(session -> session.turns().size()).sum());
    List<RouterClient> routers = new ArrayList<>();
    try {
      for (int i = 0; i < clients; i++) {
        RouterClient.Builder builder =
            events
                .apply(options.client(events.workers(workers, told), policy), told)
                .health(
                    HealthSettings.builder().loadInterval(poll(), poll().multipliedBy(5)).build())
                .seed(seed + i);
        if (knowledge != null) {
          builder.knowledge(knowledge.routing());
        }
        RouterClient router = builder.build();
        routers.add(router);
        if (!router.awaitReady(Duration.ofSeconds(10))) {
          throw CommandFailure.work("no worker is up: " + Views.reasons(router));
        }
        Views.awaitLooked(router, Duration.ofSeconds(5));
      }
      if (told) {
        events.awaitHeard(routers);
      }
      begin.run();
      Map<Boolean, List<String>> prefill =
          routers.get(0).workers().list().stream()
              .map(WorkerView::worker)
              .collect(
                  Collectors.partitioningBy(
                      worker -> worker.role() == WorkerRole.PREFILL,
                      Collectors.mapping(worker -> worker.id().value(), Collectors.toList())));
      return new LoadGenerator(routers, settings)
          .measure(
              sessions,
              prefill.getOrDefault(false, List.of()),
              prefill.getOrDefault(true, List.of()),
              ended ->
                  progress.show(
                      String.format(
                          Locale.ROOT, "%s: %d of %d requests", policy, ended, requests)));
    } finally {
      routers.forEach(RouterClient::close);
    }
  }

  /** Load is polled once a second of simulated time, but no faster than the library allows. */
  private Duration poll() {
    return Duration.ofMillis((long) Math.max(100, Math.min(1_000, 1_000 / settings.speedup())));
  }
}
