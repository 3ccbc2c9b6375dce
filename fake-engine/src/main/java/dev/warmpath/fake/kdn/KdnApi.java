package dev.warmpath.fake.kdn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpServer;
import dev.warmpath.fake.kdn.KdnLibrary.Entry;
import dev.warmpath.knowledge.KnowledgeIds;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/** The endpoints of CacheRoute's node ({@code kdn_server/kdn_api.py}, v0.1.9). */
final class KdnApi {

  /**
   * Not in the original's answer: what a real node writes into the instance's Redis. A text stands
   * for its KV.
   */
  static final String DELIVERED = "fake_delivered";

  private static final Map<String, String> JSON = Map.of("content-type", "application/json");
  private static final Duration BUILD_TIMEOUT = Duration.ofSeconds(60);
  private static final String CHAT_PATH = "/v1/chat/completions";

  /** Ids that a liar claims to have KV of. */
  private static final String NOBODYS = KnowledgeIds.of("a text that is nowhere");

  final LongAdder requests = new LongAdder();
  final LongAdder snapshots = new LongAdder();
  final LongAdder texts = new LongAdder();
  final LongAdder textBytes = new LongAdder();
  final LongAdder transfers = new LongAdder();
  final LongAdder kvBytes = new LongAdder();

  private final String id;
  private final KdnLibrary library;
  private final KdnLink link;
  private final KdnFaults faults;

  KdnApi(String id, KdnLibrary library, KdnLink link, KdnFaults faults) {
    this.id = id;
    this.library = library;
    this.link = link;
    this.faults = faults;
  }

  void handle(HttpExchange exchange, HttpServer server) {
    requests.increment();
    faults.enter(() -> answer(exchange, server), exchange::reset);
  }

  private void answer(HttpExchange exchange, HttpServer server) {
    String call = exchange.request().method() + " " + exchange.request().path();
    if (call.equals("GET /v1/topology/ping")) {
      ok(exchange, KdnJson.object().put("ok", true).put("ts_ms", System.currentTimeMillis()));
      return;
    }
    if (!exchange.request().method().equals("POST")) {
      respond(exchange, 404, KdnJson.object().put("detail", "Not Found"));
      return;
    }
    ObjectNode body = KdnJson.parse(exchange.request().body());
    if (body == null) {
      respond(exchange, 422, KdnJson.object().put("detail", "the body is no JSON object"));
      return;
    }
    switch (call) {
      case "POST /knowledge/snapshot" -> snapshot(exchange, body);
      case "POST /knowledge/search/text" -> searchText(exchange, body);
      case "POST /knowledge/register_text" -> registerText(exchange, body);
      case "POST /knowledge/build_kv" -> buildKv(exchange, body);
      case "POST /knowledge/inject_ready_kv" -> inject(exchange, body, server);
      case "POST /knowledge/delete" -> delete(exchange, body);
      case "POST /knowledge/purge_all" -> {
        library.clear();
        ok(exchange, KdnJson.object().put("purged", true));
      }
      case "POST /knowledge/pool_status" -> poolStatus(exchange);
      case "POST /v1/topology/hello" ->
          ok(
              exchange,
              KdnJson.object()
                  .put("ok", true)
                  .put("kdn_id", id)
                  .put("kdn_host", server.address().getAddress().getHostAddress())
                  .put("kdn_port", server.address().getPort())
                  .put("echo_instance_id", body.path("instance_id").asText()));
      default -> respond(exchange, 404, KdnJson.object().put("detail", "Not Found"));
    }
  }

  private void snapshot(HttpExchange exchange, ObjectNode body) {
    int limit = body.path("limit").asInt(1_000_000);
    int offset = body.path("offset").asInt(0);
    Set<String> fields = fields(body);
    ObjectNode answer = KdnJson.object();
    ArrayNode items = answer.putArray("items");
    library.all().stream()
        .skip(Math.max(0, offset))
        .limit(Math.max(0, limit))
        .forEach(entry -> items.add(describe("kid", entry, fields, faults.lying())));
    if (faults.lying()) {
      items.addObject().put("kid", NOBODYS).put("length", 1_000_000).put("kv_ready", 1);
    }
    answer.put("count", items.size()).put("limit", limit).put("offset", offset);
    snapshots.increment();
    ok(exchange, answer);
  }

  private void searchText(HttpExchange exchange, ObjectNode body) {
    Set<String> fields = fields(body);
    ObjectNode answer = KdnJson.object();
    ArrayNode items = answer.putArray("items");
    ArrayNode miss = answer.putArray("miss");
    for (String kid : ids(body)) {
      Entry entry = library.get(kid);
      if (entry == null) {
        miss.add(kid);
        continue;
      }
      ObjectNode item = items.addObject().put("id", entry.id());
      if (fields.isEmpty() || fields.contains("content")) {
        String text = faults.lying() ? "not what was asked for: " + entry.text() : entry.text();
        item.put("content", text);
        texts.increment();
        textBytes.add(text.getBytes(StandardCharsets.UTF_8).length);
      }
      item.setAll(describe("id", entry, fields, faults.lying()));
    }
    ok(exchange, answer);
  }

  /** What is asked for of a piece, or everything but its text. */
  private ObjectNode describe(String idName, Entry entry, Set<String> fields, boolean lying) {
    ObjectNode all =
        KdnJson.object()
            .put(idName, entry.id())
            .put("length", entry.length())
            .put("rel_path", "blocks/" + entry.id() + ".txt")
            .putNull("embedding")
            .putNull("embed_dim")
            .put("kv_ready", entry.ready() || lying ? 1 : 0)
            .put("kv_rel_dir", entry.ready() ? entry.id() : null)
            .put("kv_dumped_keys", library.chunks(entry))
            .put("kv_updated_at", entry.updatedSeconds());
    return fields.isEmpty() ? all : all.retain(fields);
  }

  private void registerText(HttpExchange exchange, ObjectNode body) {
    JsonNode content = body.path("content");
    if (!content.isTextual() || KnowledgeIds.normalise(content.asText()).isEmpty()) {
      respond(exchange, 400, KdnJson.object().put("error", "content must be a text"));
      return;
    }
    String kid = KnowledgeIds.of(content.asText());
    boolean created = library.add(kid, content.asText());
    String text = KnowledgeIds.normalise(content.asText());
    ok(
        exchange,
        KdnJson.object()
            .put("kid", kid)
            .put("status", created ? "created" : "exists")
            .put("length", text.codePointCount(0, text.length())));
  }

  /**
   * Asks an engine to compute the text, as the original does, and learns from it how long it is.
   */
  private void buildKv(HttpExchange exchange, ObjectNode body) {
    Entry entry = library.get(body.path("kid").asText());
    String model = body.path("model").asText();
    if (entry == null) {
      respond(exchange, 404, KdnJson.object().put("error", "kid not found"));
      return;
    }
    URI engine;
    try {
      String url = body.path("api_url").asText();
      engine = URI.create(url.endsWith("/completions") ? url : url + CHAT_PATH);
    } catch (IllegalArgumentException e) {
      respond(exchange, 400, KdnJson.object().put("error", "api_url is none"));
      return;
    }
    ObjectNode chat =
        KdnJson.object().put("model", model).put("max_tokens", 1).put("temperature", 0);
    chat.putArray("messages").addObject().put("role", "system").put("content", entry.text());
    var unused =
        KdnJson.post(engine, chat, BUILD_TIMEOUT, null)
            .handle(
                (reply, failure) -> {
                  int tokens =
                      failure != null || reply.status() != 200
                          ? 0
                          : reply.body().path("usage").path("prompt_tokens").asInt();
                  built(exchange, entry, model, tokens);
                  return null;
                });
  }

  private void built(HttpExchange exchange, Entry entry, String model, int tokens) {
    if (tokens == 0) {
      respond(exchange, 500, KdnJson.object().put("error", "the engine did not compute it"));
      return;
    }
    library.ready(entry.id(), model, tokens, System.currentTimeMillis() / 1e3);
    Entry built = library.get(entry.id());
    ok(
        exchange,
        KdnJson.object()
            .put("kid", entry.id())
            .put("kv_dir", entry.id())
            .put("dumped_keys", built == null ? 0 : library.chunks(built))
            .put("kv_root", "KV_database"));
  }

  private void inject(HttpExchange exchange, ObjectNode body, HttpServer server) {
    List<String> kids = ids(body);
    if (kids.isEmpty()) {
      respond(exchange, 400, KdnJson.object().put("ok", false).put("detail", "no knowledge_ids"));
      return;
    }
    Delivery delivery = new Delivery();
    CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
    for (String kid : kids) {
      Entry entry = library.get(kid);
      if (faults.lying()) {
        delivery.injected.add(kid);
      } else if (entry == null) {
        delivery.missing.add(kid);
      } else if (!entry.ready()) {
        delivery.textOnly.add(kid);
      } else {
        done =
            done.thenCompose(before -> link.send(library.bytes(entry), server))
                .thenRun(() -> delivery.sent(entry));
      }
    }
    var unused =
        done.thenRun(() -> ok(exchange, delivery.answer(link.load() != null || faults.lying())));
  }

  /** What becomes of one injection. */
  private final class Delivery {
    final List<String> injected = new ArrayList<>();
    final List<String> textOnly = new ArrayList<>();
    final List<String> missing = new ArrayList<>();
    final List<Entry> sent = new ArrayList<>();

    void sent(Entry entry) {
      transfers.increment();
      kvBytes.add(library.bytes(entry));
      injected.add(entry.id());
      sent.add(entry);
    }

    ObjectNode answer(boolean simulated) {
      ObjectNode answer = KdnJson.object().put("ok", true);
      injected.forEach(answer.putArray("injected_kids")::add);
      textOnly.forEach(answer.putArray("text_only_kids")::add);
      missing.forEach(answer.putArray("miss_kids")::add);
      int chunks = sent.stream().mapToInt(library::chunks).sum();
      answer.put("keys_injected", chunks);
      answer.put("payload_bytes", sent.stream().mapToLong(library::bytes).sum());
      answer.put("payload_files", chunks);
      answer.put("network_sim_enabled", simulated);
      answer.put("detail", "");
      ArrayNode delivered = answer.putArray(DELIVERED);
      for (Entry entry : sent) {
        delivered
            .addObject()
            .put("content", entry.text())
            .put("model", entry.model())
            .put("tokens", library.reusableTokens(entry));
      }
      return answer;
    }
  }

  private void delete(HttpExchange exchange, ObjectNode body) {
    ObjectNode answer = KdnJson.object();
    ArrayNode deleted = answer.putArray("deleted");
    ArrayNode unknown = answer.putArray("not_found");
    for (String kid : ids(body)) {
      (library.remove(kid) ? deleted : unknown).add(kid);
    }
    answer.putArray("errors");
    ok(exchange, answer);
  }

  private void poolStatus(HttpExchange exchange) {
    int ready = (int) library.all().stream().filter(Entry::ready).count();
    int total = library.all().size();
    ok(
        exchange,
        KdnJson.object()
            .put("kdn_id", id)
            .put("total_blocks", total)
            .put("embedding_ready_blocks", 0)
            .put("kv_ready_blocks", ready)
            .put("text_only_blocks", total - ready));
  }

  private static List<String> ids(ObjectNode body) {
    List<String> ids = new ArrayList<>();
    body.path("knowledge_ids").forEach(kid -> ids.add(KnowledgeIds.canonical(kid.asText())));
    return ids;
  }

  private static Set<String> fields(ObjectNode body) {
    Set<String> fields = new HashSet<>();
    body.path("need_fields").forEach(field -> fields.add(field.asText()));
    return fields;
  }

  private static void ok(HttpExchange exchange, ObjectNode body) {
    respond(exchange, 200, body);
  }

  private static void respond(HttpExchange exchange, int status, ObjectNode body) {
    exchange.respond(status, JSON, KdnJson.bytes(body));
  }
}
