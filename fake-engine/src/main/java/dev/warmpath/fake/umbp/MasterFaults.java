package dev.warmpath.fake.umbp;

import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.TierHashes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * What is wrong with a master's answers to MatchExternalKv. Answers held back by a hang come when
 * it ends, as those of a stopped process do. Thread safe.
 */
final class MasterFaults implements AutoCloseable {
  private static final int NO_TIER = 77;

  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "fake-umbp-timer");
            thread.setDaemon(true);
            return thread;
          });
  private final List<Runnable> held = new ArrayList<>();
  private boolean hung;
  private volatile Duration slowness = Duration.ZERO;
  private volatile boolean lying;

  void hung(boolean on) {
    List<Runnable> free = List.of();
    synchronized (held) {
      hung = on;
      if (!on) {
        free = List.copyOf(held);
        held.clear();
      }
    }
    free.forEach(Runnable::run);
  }

  void slowness(Duration by) {
    slowness = by;
  }

  void lying(boolean on) {
    lying = on;
  }

  /** Answers at once, later, or when a hang ends. */
  void delay(Runnable answer) {
    synchronized (held) {
      if (hung) {
        held.add(answer);
        return;
      }
    }
    Duration by = slowness;
    if (by.isZero()) {
      answer.run();
    } else {
      var unused = timer.schedule(answer, by.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /**
   * What is told of what was found: the truth, or beside it a node that is nobody, hashes that
   * nobody asked for, and tiers that are none.
   */
  List<ExternalKvNodeMatch> told(List<ExternalKvNodeMatch> found, List<String> asked) {
    if (!lying || asked.isEmpty()) {
      return found;
    }
    List<ExternalKvNodeMatch> told = new ArrayList<>();
    told.add(
        ExternalKvNodeMatch.newBuilder()
            .setNodeId("nobody:dp0:pp0:tp0")
            .setPeerAddress("nobody:16001")
            .addHashesByTier(TierHashes.newBuilder().setTierValue(1).addAllHashes(asked))
            .build());
    for (ExternalKvNodeMatch match : found) {
      told.add(
          match.toBuilder()
              .addHashesByTier(
                  TierHashes.newBuilder()
                      .setTierValue(NO_TIER)
                      .addHashes(asked.get(0))
                      .addAllHashes(asked.stream().map(hash -> "other-model:" + hash).toList()))
              .build());
    }
    return told;
  }

  @Override
  public void close() {
    timer.shutdownNow();
    synchronized (held) {
      held.clear();
    }
  }
}
