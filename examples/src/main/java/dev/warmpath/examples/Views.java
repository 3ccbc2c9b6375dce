package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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

  static ObjectNode worker(RouterClient router, WorkerView view) {
    Worker worker = view.worker();
    ObjectNode out = Json.object();
    out.put("worker", worker.id().value());
    out.put("epoch", worker.epoch());
    out.put("engine", worker.engine().label());
    out.put("version", worker.capabilities().version());
    out.put("role", worker.role().label());
    ArrayNode models = out.putArray("models");
    worker.models().forEach(model -> models.add(model.id()));
    out.put("dp_size", worker.ranks().size());
    out.put("block_size", worker.blockSize());
    out.put("kv_capacity_tokens", worker.kvCapacityTokens());
    out.put("max_running_requests", worker.capabilities().maxRunningRequests());
    out.put("cache_report", worker.capabilities().cacheReport());
    out.put("state", worker.state().label());
    out.put("health", view.availability().label());
    out.put("detail", view.detail());
    out.put("breaker", router.breaker(worker));
    ArrayNode ranks = out.putArray("ranks");
    for (RankView rank : view.ranks()) {
      ranks.add(rank(rank));
    }
    return out;
  }

  private static ObjectNode rank(RankView view) {
    ObjectNode out = Json.object();
    if (view.rank().rank().isPresent()) {
      out.put("rank", view.rank().rank().getAsInt());
    } else {
      out.putNull("rank");
    }
    out.put("health", view.availability().label());
    ArrayNode degraded = out.putArray("degraded");
    view.degradation().modes().forEach(mode -> degraded.add(mode.label()));
    Json.put(out, "share", view.degradation().share());
    out.put("in_flight", view.inFlight());
    out.put("prefill_tokens", view.prefillTokens());
    Json.put(out, "latency_ms", view.latencyMillis());
    RankLoad load = view.load();
    ObjectNode of = out.putObject("load");
    Json.put(of, "running", load == null ? Double.NaN : load.runningRequests());
    Json.put(of, "waiting", load == null ? Double.NaN : load.waitingRequests());
    Json.put(of, "used_tokens", load == null ? Double.NaN : load.usedTokens());
    Json.put(of, "token_usage", load == null ? Double.NaN : load.tokenUsage());
    Json.put(of, "cache_hit_rate", load == null ? Double.NaN : load.cacheHitRate());
    Json.put(of, "gen_tokens_per_s", load == null ? Double.NaN : load.generationTokensPerSecond());
    out.put("load_source", view.loadSource());
    Duration age = view.loadAge();
    Json.put(out, "load_age_ms", age == null ? Double.NaN : age.toNanos() / 1e6);
    out.put("stale", view.stale());
    return out;
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
