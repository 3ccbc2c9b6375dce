package dev.warmpath.okhttp.internal;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.okhttp.internal.HttpReader.Answer;
import dev.warmpath.okhttp.internal.HttpReader.Budget;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The engines behind a vLLM prefill worker of Mooncake's connector, which decode has to name. Its
 * bootstrap server tells them: {@code GET /query} answers {@code {"0": {"engine_id": ...}, ...}},
 * one entry for each data-parallel rank. It listens on the worker's own host, at {@code
 * ;bootstrap-port=} or 8998, vLLM's default.
 */
final class MooncakeEngines {
  private static final int DEFAULT_PORT = 8998;

  /** A bootstrap server that hangs must not use up what the rest of the probe may need. */
  private static final int SHARE_OF_BUDGET = 2;

  private final HttpReader http;

  MooncakeEngines(HttpReader http) {
    this.http = http;
  }

  /** Whether a worker is one that has such a server, and is not told its engine's id. */
  static boolean asked(Worker worker) {
    Map<String, String> labels = worker.spec().labels();
    return worker.role() == WorkerRole.PREFILL
        && "mooncake".equalsIgnoreCase(labels.get("pd"))
        && !labels.containsKey("engine-id");
  }

  /**
   * The engines' ids by rank; empty where the server does not tell those of all ranks (yet), or
   * can't be reached: the worker itself is well all the same.
   *
   * @throws TransportException when the calling thread was interrupted
   */
  List<String> ids(Worker worker, Budget budget) throws TransportException {
    Map<String, String> labels = worker.spec().labels();
    String host = labels.get("kv-host");
    if (host == null) {
      host = worker.id().uri().getHost();
    }
    if (host == null) {
      return List.of();
    }
    Answer answer;
    try {
      answer =
          http.getBeside(
              host,
              port(labels.get("bootstrap-port")),
              "/query",
              new Budget(budget.left().dividedBy(SHARE_OF_BUDGET)));
    } catch (TransportException e) {
      if (e.kind() == Kind.CANCELLED) {
        throw e;
      }
      return List.of();
    }
    JsonNode told = answer.ok() ? answer.json() : null;
    List<String> ids = new ArrayList<>();
    for (int rank = 0; told != null && rank < told.size(); rank++) {
      JsonNode id = told.path(Integer.toString(rank)).path("engine_id");
      if (!id.isTextual()) {
        return List.of();
      }
      ids.add(id.asText());
    }
    return ids;
  }

  private static int port(@Nullable String configured) {
    try {
      int port = configured == null ? DEFAULT_PORT : Integer.parseInt(configured.strip());
      return port > 0 && port <= 65_535 ? port : DEFAULT_PORT;
    } catch (NumberFormatException e) {
      return DEFAULT_PORT;
    }
  }

  /** As pairing reads them: {@code engine-id-0} and so on. */
  static Map<String, String> labels(List<String> ids) {
    Map<String, String> labels = new HashMap<>();
    for (int rank = 0; rank < ids.size(); rank++) {
      labels.put("engine-id-" + rank, ids.get(rank));
    }
    return labels;
  }
}
