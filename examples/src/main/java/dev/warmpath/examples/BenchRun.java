package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.fake.load.LoadGenerator;
import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Sends one workload under several policies, one after another, with caches flushed in between. */
final class BenchRun {
  private final RouterOptions options;
  private final List<WorkerSpec> workers;
  private final LoadSettings settings;
  private final List<TraceSession> sessions;
  private final int clients;
  private final Runnable flush;
  private final Progress progress = new Progress();

  BenchRun(
      RouterOptions options,
      List<WorkerSpec> workers,
      LoadSettings settings,
      List<TraceSession> sessions,
      int clients,
      Runnable flush) {
    this.options = options;
    this.workers = workers;
    this.settings = settings;
    this.sessions = sessions;
    this.clients = clients;
    this.flush = flush;
  }

  List<LoadResult> run(List<String> policies, @Nullable Long seed) throws InterruptedException {
    List<LoadResult> results = new ArrayList<>();
    long requests =
        Math.min(
            settings.maxRequests(),
            sessions.stream().mapToLong(session -> session.turns().size()).sum());
    for (String policy : policies) {
      flush.run();
      results.add(run(policy, requests, seed));
    }
    progress.clear();
    return results;
  }

  private LoadResult run(String policy, long requests, @Nullable Long seed)
      throws InterruptedException {
    List<RouterClient> routers = new ArrayList<>();
    try {
      for (int i = 0; i < clients; i++) {
        RouterClient.Builder builder =
            options
                .client(workers, policy)
                .health(
                    HealthSettings.builder().loadInterval(poll(), poll().multipliedBy(5)).build());
        if (seed != null) {
          builder.seed(seed + i);
        }
        RouterClient router = builder.build();
        routers.add(router);
        if (!router.awaitReady(Duration.ofSeconds(10))) {
          throw CommandFailure.work("no worker is up: " + Views.reasons(router));
        }
        Views.awaitLooked(router, Duration.ofSeconds(5));
      }
      return new LoadGenerator(routers, settings)
          .run(
              policy,
              sessions,
              workers.stream().map(WorkerSpec::id).map(WorkerId::value).toList(),
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
