package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.prompt.PromptSource;
import dev.warmpath.worker.KvEventSource;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a benchmark compares routers that hear engines' KV events with others that don't, and have
 * all else in common.
 *
 * @param compared whether it does
 * @param prompts what the engines' tokens are, for both; null where the model's files say so
 */
record BenchEvents(boolean compared, @Nullable PromptSource prompts) {
  /** Nothing is compared. */
  static final BenchEvents NONE = new BenchEvents(false, null);

  private static final Duration HEARD_WITHIN = Duration.ofSeconds(10);
  private static final long LOOK_MILLIS = 20;

  /** The workers as routers are told of them. */
  List<WorkerSpec> workers(List<WorkerSpec> workers, boolean told) {
    return told || !compared
        ? workers
        : workers.stream()
            .map(spec -> spec.toBuilder().label(KvEventSource.LABEL, "off").build())
            .toList();
  }

  /** A router that hears them, or does not. */
  RouterClient.Builder apply(RouterClient.Builder router, boolean told) {
    if (prompts != null) {
      router.promptSource(prompts);
    }
    return told ? router.kvEvents(KvEventSettings.DEFAULT) : router;
  }

  /** Waits until every router hears every rank that tells. */
  void awaitHeard(List<RouterClient> routers) throws InterruptedException {
    long until = System.nanoTime() + HEARD_WITHIN.toNanos();
    for (RouterClient router : routers) {
      while (!heard(router.stats().kvEvents())) {
        if (System.nanoTime() > until) {
          throw CommandFailure.work("workers tell of no KV events: start them with a publisher");
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      }
    }
  }

  private static boolean heard(KvEventStats stats) {
    return !stats.ranks().isEmpty()
        && stats.ranks().stream().allMatch(KvEventStats.Rank::connected);
  }
}
