package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.health.Availability;
import dev.warmpath.health.WorkerView;
import dev.warmpath.health.WorkerView.RankView;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What commands show of workers. */
final class Views {
  private Views() {}

  static String reasons(RouterClient router) {
    return router.workers().list().stream()
        .map(view -> view.worker().id() + " (" + view.detail() + ")")
        .collect(Collectors.joining(", "));
  }

  /**
   * Waits until every worker has been looked at, and its load read where it is up, or {@code
   * atMost} has passed.
   */
  static void awaitLooked(RouterClient router, Duration atMost) {
    awaitEach(router, atMost, Views::looked);
  }

  /** Waits until it is known of each worker which engine it is, or that it does not answer. */
  static void awaitKnown(RouterClient router, Duration atMost) {
    awaitEach(
        router,
        atMost,
        view ->
            view.worker().engine() != EngineKind.UNKNOWN
                || view.availability() == Availability.DOWN);
  }

  private static void awaitEach(
      RouterClient router, Duration atMost, Predicate<WorkerView> wanted) {
    long until = System.nanoTime() + atMost.toNanos();
    while (System.nanoTime() < until && !router.workers().list().stream().allMatch(wanted)) {
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static boolean looked(WorkerView view) {
    return switch (view.availability()) {
      case UNKNOWN -> false;
      case UP ->
          tellsNoLoad(view.worker()) || view.ranks().stream().allMatch(rank -> rank.load() != null);
      case SUSPECT, DOWN -> true;
    };
  }

  /** Over gRPC vLLM tells no load at all, or zeros that mean nothing until it has counted. */
  private static boolean tellsNoLoad(Worker worker) {
    return worker.engine() == EngineKind.VLLM && worker.id().scheme().startsWith("grpc");
  }

  /** One line per rank for people. */
  static String table(RouterClient router) {
    TextTable table =
        new TextTable(
            "worker",
            "engine",
            "role",
            "health",
            "models",
            "running",
            "waiting",
            "usage",
            "hit rate",
            "source",
            "age");
    for (WorkerView view : router.workers().list()) {
      Worker worker = view.worker();
      for (RankView rank : view.ranks()) {
        RankLoad load = rank.load();
        Duration age = rank.loadAge();
        table.row(
            rank.rank().toString(),
            worker.engine().label()
                + (worker.capabilities().version() == null
                    ? ""
                    : " " + worker.capabilities().version()),
            worker.role().label(),
            health(view, rank),
            worker.models().stream().map(ServedModel::id).collect(Collectors.joining(" ")),
            number(load == null ? Double.NaN : load.runningRequests()),
            number(load == null ? Double.NaN : load.waitingRequests()),
            number(load == null ? Double.NaN : load.tokenUsage()),
            number(load == null ? Double.NaN : load.cacheHitRate()),
            text(rank.loadSource()),
            age == null ? "-" : age.toMillis() + " ms");
      }
    }
    return table.toString();
  }

  private static String health(WorkerView view, RankView rank) {
    return rank.availability() == Availability.UP
        ? rank.degradation().label()
        : rank.availability().label() + " (" + view.detail() + ")";
  }

  private static String text(@Nullable String value) {
    return value == null ? "-" : value;
  }

  private static String number(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    return value == Math.rint(value)
        ? Long.toString((long) value)
        : String.format(java.util.Locale.ROOT, "%.3f", value);
  }
}
