package dev.warmpath.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows something of a running control plane, this project's or CacheRoute's. */
abstract class KnowledgeViewCommand implements Callable<Integer> {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:7002",
      description =
          "the control plane (default: ${DEFAULT-VALUE}); CacheRoute's scheduler has status and"
              + " strategy on its port 7001")
  private String url = "";

  @Option(
      names = "--secret-env",
      paramLabel = "NAME",
      description = "the environment variable with the control plane's secret (default: none)")
  private @Nullable String secretVariable;

  @Option(
      names = "--timeout",
      defaultValue = "PT5S",
      paramLabel = "DURATION",
      description = "how long to wait (default: ${DEFAULT-VALUE})")
  private Duration timeout = Duration.ofSeconds(5);

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  /** What is asked for. */
  abstract String path();

  /** What people see. */
  abstract String text(JsonNode answer);

  /** What programs see. */
  abstract ObjectNode document(JsonNode answer);

  @Override
  public Integer call() throws InterruptedException {
    JsonNode answer = ask();
    spec.commandLine()
        .getOut()
        .println(json ? Json.document(document(answer)) : text(answer).stripTrailing());
    return 0;
  }

  private JsonNode ask() throws InterruptedException {
    HttpRequest.Builder request;
    try {
      String base = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
      request = HttpRequest.newBuilder(URI.create(base + path())).timeout(timeout);
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage("--url '" + url + "' is no http:// address");
    }
    if (secretVariable != null) {
      String secret = System.getenv(secretVariable);
      if (secret == null) {
        throw CommandFailure.usage("there is no environment variable " + secretVariable);
      }
      request.header("Authorization", "Bearer " + secret);
    }
    HttpResponse<byte[]> answer;
    try {
      answer =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(timeout)
              .build()
              .send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw CommandFailure.work(url + " did not answer: " + e.getClass().getSimpleName());
    }
    if (answer.statusCode() != 200) {
      throw CommandFailure.work(
          url
              + " answered "
              + answer.statusCode()
              + (answer.statusCode() == 401 ? ": it wants a secret, see --secret-env" : ""));
    }
    try {
      JsonNode tree = MAPPER.readTree(answer.body());
      if (tree.isContainerNode()) {
        return tree;
      }
    } catch (JsonProcessingException e) {
      // said below
    } catch (IOException e) {
      throw new IllegalStateException("bytes are always readable", e);
    }
    throw CommandFailure.work(url + " is no control plane: what it answers is not understood");
  }

  /** A figure, a dash where nobody reported it. */
  private static String cell(JsonNode value) {
    return value.isMissingNode() || value.isNull() ? "-" : value.asText();
  }

  private static String table(JsonNode rows, String none, String... keys) {
    if (rows.isEmpty()) {
      return none;
    }
    TextTable table = new TextTable(keys);
    for (JsonNode row : rows) {
      List<String> cells = new ArrayList<>();
      for (String key : keys) {
        cells.add(key.equals("links") ? links(row) : cell(row.path(key)));
      }
      table.row(cells.toArray(String[]::new));
    }
    return table.toString();
  }

  private static String links(JsonNode target) {
    List<String> all = new ArrayList<>();
    target
        .path("meta")
        .path("kdn_links")
        .properties()
        .forEach(
            link ->
                all.add(
                    link.getKey()
                        + " "
                        + cell(link.getValue().path("bandwidth_mbps"))
                        + "/"
                        + cell(link.getValue().path("latency_ms"))));
    return all.isEmpty() ? "-" : String.join(" ", all);
  }

  private static String pair(String name, JsonNode value) {
    return String.format("%-18s %s%n", name, cell(value));
  }

  private static ObjectNode object(JsonNode answer) {
    if (answer instanceof ObjectNode object) {
      return object;
    }
    throw CommandFailure.work("the control plane's answer is not understood");
  }

  /** The whole, in short. */
  @Command(
      name = "status",
      description =
          "Shows what a control plane knows: how much knowledge, which nodes and targets.")
  static final class Status extends KnowledgeViewCommand {
    @Override
    String path() {
      return "/debug/status";
    }

    @Override
    String text(JsonNode answer) {
      return pair("strategy", answer.path("strategy"))
          + pair("knowledge", answer.path("entries"))
          + pair("nodes alive", answer.path("kdn_alive"))
          + pair("last chosen node", answer.path("kdn_last_selected_id"))
          + pair("last refresh well", answer.path("kdn_last_refresh_ok"))
          + pair("what went wrong", answer.path("kdn_last_refresh_reason"))
          + table(
              answer.path("kdns"),
              "no nodes" + System.lineSeparator(),
              "kdn_id",
              "host",
              "port",
              "items",
              "qps_1m",
              "pending_transfers",
              "active_transfers",
              "network_queue_ms_ema")
          + table(
              answer.path("proxies"),
              "no targets",
              "proxy_id",
              "host",
              "port",
              "max_capacity",
              "inflight",
              "qps_1m",
              "gpu_util");
    }

    @Override
    ObjectNode document(JsonNode answer) {
      return object(answer);
    }
  }

  /** Nodes. */
  @Command(name = "kdns", description = "Lists the knowledge delivery nodes and their load.")
  static final class Kdns extends KnowledgeViewCommand {
    @Option(names = "--all", description = "with those that were not heard of lately")
    private boolean all;

    @Override
    String path() {
      return "/v1/kdn/list?include_dead=" + all;
    }

    @Override
    String text(JsonNode answer) {
      return table(
          answer,
          "no nodes",
          "kdn_id",
          "host",
          "port",
          "is_alive",
          "items",
          "qps_1m",
          "pending_transfers",
          "active_transfers",
          "network_queue_ms_ema");
    }

    @Override
    ObjectNode document(JsonNode answer) {
      ObjectNode document = Json.object();
      document.set("kdns", answer);
      return document;
    }
  }

  /** Targets. */
  @Command(
      name = "targets",
      description =
          "Lists the targets (CacheRoute's proxies), their load and their links to nodes.")
  static final class Targets extends KnowledgeViewCommand {
    @Option(names = "--all", description = "with those that were not heard of lately")
    private boolean all;

    @Override
    String path() {
      return "/v1/proxy/list?include_dead=" + all;
    }

    @Override
    String text(JsonNode answer) {
      return table(
          answer,
          "no targets",
          "proxy_id",
          "host",
          "port",
          "is_alive",
          "max_capacity",
          "inflight",
          "qps_1m",
          "gpu_util",
          "links");
    }

    @Override
    ObjectNode document(JsonNode answer) {
      ObjectNode document = Json.object();
      document.set("targets", answer);
      return document;
    }
  }

  /** The last decision. */
  @Command(
      name = "strategy",
      description = "Shows the last decision: every candidate as it was seen, and the counters.")
  static final class Strategy extends KnowledgeViewCommand {
    @Override
    String path() {
      return "/debug/strategy";
    }

    @Override
    String text(JsonNode answer) {
      JsonNode debug = answer.path("strategy_debug");
      StringBuilder text = new StringBuilder();
      text.append(pair("strategy", answer.path("strategy")));
      text.append(pair("chosen node", debug.path("chosen_kdn_id")));
      text.append(pair("chosen target", debug.path("chosen_proxy_id")));
      text.append(pair("usable nodes", debug.path("usable_kdn_count")));
      text.append(pair("targets in reach", debug.path("connectable_proxy_count")));
      text.append(
          table(
              debug.path("kdn_candidates"),
              "no nodes were looked at" + System.lineSeparator(),
              "kdn_id",
              "text_full",
              "overloaded",
              "kv_cover_len",
              "missing_count",
              "qps_1m",
              "items"));
      text.append(
          table(
              debug.path("proxy_candidates"),
              "no targets were looked at" + System.lineSeparator(),
              "proxy_id",
              "inflight",
              "max_inflight",
              "load_ratio",
              "qps_1m",
              "gpu_util",
              "affinity_score"));
      debug
          .path("counters")
          .properties()
          .forEach(count -> text.append(pair(count.getKey(), count.getValue())));
      return text.toString();
    }

    @Override
    ObjectNode document(JsonNode answer) {
      return object(answer);
    }
  }
}
