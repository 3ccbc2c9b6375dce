package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.RouterClient.ClientStats;
import dev.warmpath.health.WorkerView;
import dev.warmpath.health.WorkerView.RankView;
import dev.warmpath.transport.RankLoad;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** Looks at the workers once and prints what a client would export, as Prometheus text. */
@Command(
    name = "metrics",
    description = "Looks at the named workers once and prints Prometheus text.")
final class MetricsCommand extends ViewCommand {
  private static final Map<String, ToDoubleFunction<RankLoad>> LOADS = new LinkedHashMap<>();

  static {
    LOADS.put("running_requests", RankLoad::runningRequests);
    LOADS.put("waiting_requests", RankLoad::waitingRequests);
    LOADS.put("used_tokens", RankLoad::usedTokens);
    LOADS.put("token_usage_ratio", RankLoad::tokenUsage);
    LOADS.put("kv_capacity_tokens", RankLoad::kvCapacityTokens);
    LOADS.put("cache_hit_ratio", RankLoad::cacheHitRate);
    LOADS.put("generation_tokens_per_second", RankLoad::generationTokensPerSecond);
  }

  @Override
  String text(RouterClient client) {
    StringBuilder out = new StringBuilder();
    ClientStats stats = client.stats();
    gauge(out, "warmpath_requests_in_flight", "Requests being carried out.", stats.inFlight());
    gauge(out, "warmpath_admission_waiting", "Requests waiting for admission.", stats.waiting());
    gauge(out, "warmpath_retry_budget", "Retries that the budget allows.", stats.retriesLeft());
    gauge(out, "warmpath_index_bytes", "Heap taken by the prefix index.", stats.index().bytes());
    gauge(out, "warmpath_index_budget_bytes", "Its budget.", stats.index().budgetBytes());
    gauge(
        out,
        "warmpath_block_index_bytes",
        "Heap taken by the index of blocks.",
        stats.blocks().bytes());
    gauge(out, "warmpath_block_index_budget_bytes", "Its budget.", stats.blocks().budgetBytes());
    gauge(
        out,
        "warmpath_prompt_cache_bytes",
        "Heap taken by cached tokens and chains.",
        stats.prompts().segmentBytes() + stats.prompts().chainBytes());
    gauge(out, "warmpath_answers_waiting", "Answers not learned yet.", stats.answers().waiting());
    gauge(out, "warmpath_answers_waiting_bytes", "Heap that these keep.", stats.answers().bytes());
    gauge(
        out,
        "warmpath_answers_dropped",
        "Answers that were not learned.",
        stats.answers().dropped());
    header(
        out, "warmpath_prediction_suspect", "Whether predicted cache hits keep failing to appear.");
    client
        .predictions()
        .forEach(
            (rank, verdict) ->
                prediction(
                    out,
                    "suspect",
                    rank,
                    verdict.cause() == null ? "" : verdict.cause().label(),
                    verdict.suspect() ? 1 : 0));
    header(out, "warmpath_prediction_credit", "What predicted cache hits are weighed by.");
    client
        .predictions()
        .forEach((rank, verdict) -> prediction(out, "credit", rank, null, verdict.credit()));
    header(out, "warmpath_worker_up", "Whether the worker is believed to answer.");
    for (WorkerView view : client.workers().list()) {
      for (RankView rank : view.ranks()) {
        sample(out, "warmpath_worker_up", rank, rank.availability().label().equals("up") ? 1 : 0);
      }
    }
    header(out, "warmpath_worker_in_flight", "Requests of this client at the worker.");
    for (WorkerView view : client.workers().list()) {
      for (RankView rank : view.ranks()) {
        sample(out, "warmpath_worker_in_flight", rank, rank.inFlight());
      }
    }
    LOADS.forEach(
        (name, of) -> {
          header(out, "warmpath_worker_" + name, "As the worker's telemetry has it.");
          for (WorkerView view : client.workers().list()) {
            for (RankView rank : view.ranks()) {
              RankLoad load = rank.load();
              if (load != null && !Double.isNaN(of.applyAsDouble(load))) {
                sample(out, "warmpath_worker_" + name, rank, of.applyAsDouble(load));
              }
            }
          }
        });
    return out.toString();
  }

  @Override
  ObjectNode document(RouterClient client) {
    return Json.object().put("text", text(client));
  }

  private static void prediction(
      StringBuilder out, String name, String rank, @Nullable String cause, double value) {
    int hash = rank.indexOf('#');
    out.append("warmpath_prediction_").append(name).append("{worker=\"");
    out.append(hash < 0 ? rank : rank.substring(0, hash)).append('"');
    if (hash >= 0) {
      out.append(",rank=\"").append(rank, hash + 1, rank.length()).append('"');
    }
    if (cause != null) {
      out.append(",cause=\"").append(cause).append('"');
    }
    out.append("} ").append(value).append('\n');
  }

  private static void gauge(StringBuilder out, String name, String help, long value) {
    header(out, name, help);
    out.append(name).append(' ').append(value).append('\n');
  }

  private static void header(StringBuilder out, String name, String help) {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(" gauge\n");
  }

  private static void sample(StringBuilder out, String name, RankView rank, double value) {
    out.append(name).append("{worker=\"").append(rank.rank().worker().id().value()).append('"');
    rank.rank().rank().ifPresent(number -> out.append(",rank=\"").append(number).append('"'));
    out.append("} ").append(number(value)).append('\n');
  }

  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }
}
