package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpHandler;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.fake.internal.kv.RequestKeys;
import dev.warmpath.fake.text.PlannedText;
import dev.warmpath.fake.text.PromptRejectedException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the imitated engines have in common: routing, faults, and the OpenAI request formats. Runs
 * on the server's thread.
 */
public abstract class EngineSurface implements HttpHandler {
  private static final String ADMIN_CONFIG = "/admin/config";
  private static final String ADMIN_HANDOFFS = "/admin/handoffs";
  static final Map<String, String> JSON = Map.of("content-type", "application/json");
  private static final Map<String, String> PLAIN =
      Map.of("content-type", "text/plain; charset=utf-8");
  static final byte[] NOTHING = new byte[0];

  /** Answers one endpoint; a fault that concerns the answer itself comes along. */
  interface Action {
    void run(HttpExchange exchange, @Nullable Fault fault);
  }

  record Route(Scope scope, Action action) {}

  final Life life;
  final EngineSettings settings;
  final Faults faults;
  final EngineControl control;
  private final FaultGate gate;
  private final KvConnector connector;
  private final Map<String, Map<String, Route>> routes = new HashMap<>();

  EngineSurface(Life life, Faults faults, EngineControl control) {
    this.life = life;
    this.settings = life.settings();
    this.connector = KvConnector.of(settings.handoff().protocol());
    this.faults = faults;
    this.control = control;
    this.gate = new FaultGate(life, faults, control);
    InjectReady injection = new InjectReady(life);
    post(
        InjectReady.PATH,
        Scope.ADMIN,
        (exchange, fault) -> injection.handle(exchange, body(exchange)));
  }

  /**
   * Creates the surface of an engine's kind.
   *
   * @param life the engine's present life
   * @param faults its faults
   * @param control its process
   * @return a handler of its requests
   */
  public static EngineSurface of(Life life, Faults faults, EngineControl control) {
    return switch (life.settings().kind()) {
      case SGLANG -> new SglangSurface(life, faults, control);
      case VLLM -> new VllmSurface(life, faults, control);
      case ATOM -> new AtomSurface(life, faults, control);
      case UNKNOWN -> throw new IllegalArgumentException("an unknown engine can't be imitated");
    };
  }

  final void get(String path, Scope scope, Action action) {
    route("GET", path, scope, action);
    route("HEAD", path, scope, action);
  }

  final void post(String path, Scope scope, Action action) {
    route("POST", path, scope, action);
  }

  private void route(String method, String path, Scope scope, Action action) {
    routes.computeIfAbsent(path, ignored -> new HashMap<>()).put(method, new Route(scope, action));
  }

  // ---- what the engines differ in ----

  /** The engine's answer to a request without the right key, or null to let it pass. */
  abstract @Nullable ApiError authorize(HttpRequest request, @Nullable Route route);

  /** An error in the engine's shape. */
  abstract ApiError error(int status, String message);

  /** How the engine reports an error in the middle of a stream; null if it just breaks off. */
  abstract @Nullable String streamError(int status, String message);

  /** Whether a stream's head is sent before its first token exists. */
  abstract boolean sendsHeadersEarly();

  /** The rank that a request names, or null. */
  abstract @Nullable Integer requestedRank(HttpRequest request, JsonNode body);

  /** Checks the model and returns the name to answer with. */
  abstract String resolveModel(JsonNode body);

  /** The adapter that a request uses, or an empty text. */
  abstract String resolveLora(JsonNode body);

  /** Names the call and each of its sequences. */
  abstract Ids ids(HttpRequest request, JsonNode body, Endpoint endpoint, int items);

  record Ids(String id, List<String> items) {}

  /** An inference endpoint, as far as ids and defaults depend on it. */
  public enum Endpoint {
    /** Chats. */
    CHAT,
    /** Completions of texts. */
    COMPLETIONS,
    /** OpenAI's newer chats. */
    RESPONSES,
    /** Embeddings. */
    EMBEDDINGS,
    /** The engine's own, over gRPC too. */
    GENERATE
  }

  // ---- one request ----

  @Override
  public final void handle(HttpExchange exchange) {
    HttpRequest request = exchange.request();
    if (request.path().equals(ADMIN_CONFIG)) {
      adminConfig(exchange);
      return;
    }
    if (request.path().equals(ADMIN_HANDOFFS)) {
      json(exchange, handoffs());
      return;
    }
    Map<String, Route> methods = routes.get(request.path());
    Route route = methods == null ? null : methods.get(request.method());
    Scope scope = route == null ? Scope.INFO : route.scope();
    boolean inference = scope == Scope.GENERATE && route != null;
    gate.enter(
        scope,
        inference,
        new HttpVictim(this, exchange),
        fault -> proceed(exchange, route, methods != null, fault));
  }

  /**
   * Serves a request for one of its endpoints that came in another way than over HTTP: past its
   * faults, and without a key.
   *
   * @param exchange the request, and where the answer goes
   * @param fault what the answer is to suffer, or null
   */
  public final void serve(HttpExchange exchange, @Nullable Fault fault) {
    HttpRequest request = exchange.request();
    Route route = routes.getOrDefault(request.path(), Map.of()).get(request.method());
    if (route == null) {
      throw new IllegalArgumentException("there is no " + request);
    }
    run(exchange, route, fault);
  }

  /**
   * Returns what lets faults at requests.
   *
   * @return the gate, the same for every protocol
   */
  public final FaultGate gate() {
    return gate;
  }

  /**
   * Returns the life that it is the surface of.
   *
   * @return the present one
   */
  public final Life life() {
    return life;
  }

  /**
   * Tells whether a condition of the engine is switched on.
   *
   * @param kind the fault
   * @return whether it is armed
   */
  public final boolean suffers(Fault.Kind kind) {
    return faults.isOn(kind);
  }

  /** What is held and awaited at present, which no engine tells; beyond the reach of faults. */
  private ObjectNode handoffs() {
    return Json.object()
        .put("handoffs", life.handoffsUnderWay())
        .put("held_blocks", life.heldBlocks())
        .put("live_rooms", life.liveRooms());
  }

  /** Beyond the reach of faults, which it clears. */
  private void adminConfig(HttpExchange exchange) {
    try {
      if (exchange.request().method().equals("POST")) {
        AdminConfig.apply(body(exchange), faults);
      }
      json(exchange, AdminConfig.show(faults));
    } catch (IllegalArgumentException e) {
      fail(exchange, new ApiError(400, Json.object().put("error", e.getMessage())));
    } catch (ApiError e) {
      fail(exchange, e);
    }
  }

  private void proceed(
      HttpExchange exchange, @Nullable Route route, boolean pathKnown, @Nullable Fault fault) {
    try {
      boolean open = exchange.request().path().equals(InjectReady.PATH);
      ApiError denied = open ? null : authorize(exchange.request(), route);
      if (denied != null) {
        throw denied;
      }
      if (route == null) {
        String detail = pathKnown ? "Method Not Allowed" : "Not Found";
        throw new ApiError(pathKnown ? 405 : 404, Json.object().put("detail", detail));
      }
    } catch (ApiError e) {
      reject(exchange, route, fault, e);
      return;
    }
    run(exchange, route, fault);
  }

  private void run(HttpExchange exchange, Route route, @Nullable Fault fault) {
    try {
      route.action().run(exchange, fault);
    } catch (ApiError e) {
      reject(exchange, route, fault, e);
    }
  }

  private void reject(
      HttpExchange exchange, @Nullable Route route, @Nullable Fault fault, ApiError error) {
    if (route != null && route.scope() == Scope.GENERATE && fault == null) {
      life.rejected.increment();
    }
    fail(exchange, error);
  }

  private static void fail(HttpExchange exchange, ApiError error) {
    exchange.respond(error.status(), JSON, Json.bytes(error.body()));
  }

  static void json(HttpExchange exchange, JsonNode body) {
    exchange.respond(200, JSON, Json.bytes(body));
  }

  static void plain(HttpExchange exchange, int status, String text) {
    exchange.respond(status, PLAIN, text.getBytes(StandardCharsets.UTF_8));
  }

  static void metrics(HttpExchange exchange, String text) {
    exchange.respond(
        200,
        Map.of("content-type", Prometheus.CONTENT_TYPE),
        text.getBytes(StandardCharsets.UTF_8));
  }

  static void empty(HttpExchange exchange, int status) {
    exchange.respond(status, Map.of(), NOTHING);
  }

  /** Answers once something is done; the connection breaks off if the engine dies first. */
  static <T> void whenDone(HttpExchange exchange, CompletableFuture<T> work, Consumer<T> answer) {
    var unused =
        work.whenComplete(
            (result, failure) -> {
              if (failure != null) {
                exchange.cut();
              } else {
                answer.accept(result);
              }
            });
  }

  // ---- inference ----

  final void chat(HttpExchange exchange, @Nullable Fault fault) {
    ObjectNode body = body(exchange);
    int[] prompt = encodeChat(body);
    int maxTokens = limit(body, "max_completion_tokens", limit(body, "max_tokens", -1));
    Call call = call(exchange.request(), body, Endpoint.CHAT, List.of(prompt), maxTokens);
    Admission admission = admission(exchange.request(), body, call);
    run(exchange, fault, call, admission, openAiAnswer(body, true, call));
  }

  final void completions(HttpExchange exchange, @Nullable Fault fault) {
    ObjectNode body = body(exchange);
    List<int[]> prompts = prompts(body, "prompt");
    int maxTokens = limit(body, "max_tokens", defaultCompletionTokens());
    Call call = call(exchange.request(), body, Endpoint.COMPLETIONS, prompts, maxTokens);
    Admission admission = admission(exchange.request(), body, call);
    run(exchange, fault, call, admission, openAiAnswer(body, false, call));
  }

  private Answer openAiAnswer(JsonNode body, boolean chat, Call call) {
    OpenAiLogprobs logprobs = null;
    if (settings.kind() != EngineKind.ATOM) {
      try {
        logprobs = OpenAiLogprobs.asked(body, chat, settings);
      } catch (IllegalArgumentException e) {
        throw error(400, String.valueOf(e.getMessage()));
      }
    }
    return new OpenAiAnswer(settings.kind(), chat, call, logprobs);
  }

  /** Completions are cut at this many tokens when they name no limit; -1 for a natural length. */
  int defaultCompletionTokens() {
    return 16;
  }

  final void responses(HttpExchange exchange, @Nullable Fault fault) {
    ObjectNode body = body(exchange);
    int[] prompt = encodeChat(chatOf(body));
    int maxTokens = limit(body, "max_output_tokens", -1);
    Call call = call(exchange.request(), body, Endpoint.RESPONSES, List.of(prompt), maxTokens);
    run(exchange, fault, call, new ResponsesAnswer(call));
  }

  /**
   * Embeds a text.
   *
   * @param tokens its token ids
   * @return a unit vector that depends on them alone
   */
  public final float[] embedding(int[] tokens) {
    return EmbeddingAnswer.vector(tokens, settings.embeddingDimensions());
  }

  /** The chat that a request for a response amounts to. */
  private static ObjectNode chatOf(ObjectNode body) {
    ObjectNode chat = body.deepCopy();
    ArrayNode messages = chat.putArray("messages");
    if (body.path("instructions").isTextual()) {
      messages.addObject().put("role", "system").set("content", body.path("instructions"));
    }
    JsonNode input = body.path("input");
    if (input.isTextual()) {
      messages.addObject().put("role", "user").set("content", input);
    } else {
      input.forEach(messages::add);
    }
    return chat;
  }

  final void embeddings(HttpExchange exchange, @Nullable Fault fault) {
    ObjectNode body = body(exchange);
    List<int[]> prompts = prompts(body, "input");
    Call call = call(exchange.request(), body, Endpoint.EMBEDDINGS, prompts, 0);
    boolean base64 = body.path("encoding_format").asText().equals("base64");
    int dimensions = body.path("dimensions").asInt(settings.embeddingDimensions());
    if (dimensions < 1 || dimensions > 65_536) {
      throw error(400, "dimensions is out of range");
    }
    run(exchange, fault, call, new EmbeddingAnswer(base64, dimensions));
  }

  /**
   * Begins an inference request that came in another way than over HTTP.
   *
   * @param request what is wanted, past its faults
   * @param output where the answer goes
   * @throws ApiError if the engine refuses it, which is counted
   */
  public final void generate(TokenRequest request, Output output) throws ApiError {
    try {
      HttpRequest headers = new HttpRequest("POST", "", Map.of(), request.headers(), NOTHING);
      Call call =
          call(headers, request.body(), request.endpoint(), request.prompts(), request.maxTokens());
      Admission admission = admission(headers, request.body(), call);
      requireFits(call);
      start(call, admission, output, request.outlivesClient() ? null : Duration.ZERO);
    } catch (ApiError e) {
      if (!output.faulty()) {
        life.rejected.increment();
      }
      throw e;
    }
  }

  final void run(HttpExchange exchange, @Nullable Fault fault, Call call, Answer answer) {
    run(exchange, fault, call, Admission.direct(life.rank(call.rank())), answer);
  }

  /**
   * How a call gets to its rank: by way of a handoff if it asks for one.
   *
   * @throws ApiError if the handoff can't be
   */
  final Admission admission(HttpRequest request, JsonNode body, Call call) {
    if (settings.role() != WorkerRole.REGULAR) {
      Admission handoff = connector.admission(this, request, body, call);
      if (handoff != null && call.items() != 1) {
        throw error(
            400, "a handoff is of one sequence: send several prompts or answers one by one");
      }
      if (handoff != null) {
        return handoff;
      }
    }
    return Admission.direct(life.rank(call.rank()));
  }

  final void run(
      HttpExchange exchange, @Nullable Fault fault, Call call, Admission admission, Answer answer) {
    requireFits(call);
    String broken = streamError(fault == null ? 500 : fault.status(), "injected fault");
    EventSink sink = new EventSink(exchange, fault, broken);
    if (call.stream() && sendsHeadersEarly()) {
      sink.begin();
    }
    Duration delay =
        call.stream() ? settings.streamDisconnectDelay() : settings.plainDisconnectDelay();
    start(call, admission, new HttpOutput(exchange, sink, answer), delay);
  }

  /** Starts a call, which goes on for so long when its client leaves, or to its end if null. */
  private void start(
      Call call, Admission admission, Output output, @Nullable Duration withoutClient) {
    Generation generation = new Generation(life, call, admission, output);
    generation.start(
        () -> faults.isOn(Fault.Kind.ZOMBIE),
        cancellation -> {
          if (withoutClient == null) {
            return;
          }
          if (withoutClient.isZero()) {
            cancellation.run();
          } else {
            control.schedule(withoutClient, cancellation);
          }
        });
  }

  private void requireFits(Call call) {
    for (int[] prompt : call.prompts()) {
      requireFits(prompt.length, call.maxTokens());
    }
  }

  private void requireFits(int promptTokens, int maxTokens) {
    int limit = Math.min(settings.core().maxModelLen(), settings.totalTokens());
    if (promptTokens == 0) {
      throw error(400, "prompt is empty");
    }
    if (promptTokens >= limit || (long) promptTokens + Math.max(0, maxTokens) > limit) {
      throw error(
          400,
          "This model's maximum context length is "
              + limit
              + " tokens, but the request needs "
              + promptTokens
              + " tokens for its prompt and "
              + Math.max(0, maxTokens)
              + " for its output.");
    }
  }

  final ObjectNode body(HttpExchange exchange) {
    JsonNode body;
    try {
      body = Json.MAPPER.readTree(exchange.request().body());
    } catch (IOException e) {
      throw malformedJson();
    }
    if (body instanceof ObjectNode object) {
      return object;
    }
    throw malformedJson();
  }

  /** The engine's answer to a body that is no JSON object. */
  ApiError malformedJson() {
    return error(400, "request body is not a JSON object");
  }

  final Call call(
      HttpRequest request, JsonNode body, Endpoint endpoint, List<int[]> prompts, int maxTokens) {
    String model = resolveModel(body);
    int n = n(body);
    Ids ids = ids(request, body, endpoint, prompts.size() * n);
    Integer rank = requestedRank(request, body);
    if (rank != null && (rank < 0 || rank >= settings.dpSize())) {
      throw error(
          400, "data_parallel_rank " + rank + " is out of range [0, " + settings.dpSize() + ")");
    }
    JsonNode options = body.path("stream_options");
    RequestKeys keys = cacheKeys(body);
    return new Call(
        model,
        ids.id(),
        ids.items(),
        prompts,
        n,
        endpoint == Endpoint.EMBEDDINGS ? maxTokens : outputLimit(maxTokens),
        stops(body.path("stop")),
        stopTokens(body.path("stop_token_ids")),
        body.path("stream").asBoolean(false),
        options.path("include_usage").asBoolean(false),
        options.path("continuous_usage_stats").asBoolean(false),
        rank != null ? rank : life.balancedRank(),
        cacheNamespace(keys),
        keys,
        body.path("seed").asLong(0),
        life.epochSeconds());
  }

  private RequestKeys cacheKeys(JsonNode body) {
    return new RequestKeys(
        resolveLora(body), body.path("cache_salt").asText(""), body.path("extra_key").asText(""));
  }

  private static long cacheNamespace(RequestKeys keys) {
    String salt = keys.salt() + '\0' + keys.extraKey();
    boolean none = keys.lora().isEmpty() && salt.length() == 1;
    return none ? 0 : PlannedText.seed(keys.lora() + '\0' + salt);
  }

  int n(JsonNode body) {
    int n = body.path("n").asInt(1);
    if (n < 1 || n > 128) {
      throw error(400, "n must be from 1 to 128");
    }
    return n;
  }

  final int limit(JsonNode body, String field, int otherwise) {
    JsonNode value = body.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.canConvertToInt() || value.asInt() < 1) {
      throw error(400, field + " must be at least 1");
    }
    return value.asInt();
  }

  private static List<String> stops(JsonNode stop) {
    if (stop.isTextual()) {
      return List.of(stop.asText());
    }
    List<String> stops = new ArrayList<>();
    stop.forEach(one -> stops.add(one.asText()));
    return stops;
  }

  private static Set<Integer> stopTokens(JsonNode ids) {
    Set<Integer> tokens = new HashSet<>();
    ids.forEach(id -> tokens.add(id.asInt()));
    return tokens;
  }

  /** The limit of an answer, where the worker has one of its own. */
  int outputLimit(int asked) {
    return asked;
  }

  /** The token ids of a chat. */
  private int[] encodeChat(ObjectNode body) {
    JsonNode messages = body.path("messages");
    if (!messages.isArray() || messages.isEmpty()) {
      throw error(400, "messages must be a list with at least one message");
    }
    for (JsonNode message : messages) {
      if (message.path("role").asText("").isEmpty()) {
        throw error(400, "every message needs a role");
      }
    }
    try {
      return settings.encoder().encodeChat(body);
    } catch (PromptRejectedException e) {
      throw error(400, String.valueOf(e.getMessage()));
    }
  }

  /** One prompt or several, as text or (where the engine takes them) as token ids. */
  List<int[]> prompts(JsonNode body, String field) {
    JsonNode prompt = body.path(field);
    boolean special = body.path("add_special_tokens").asBoolean(true);
    if (prompt.isTextual()) {
      return List.of(settings.encoder().encode(prompt.asText(), special));
    }
    if (prompt.isArray() && !prompt.isEmpty()) {
      if (prompt.get(0).isIntegralNumber()) {
        return List.of(tokenIds(prompt, field));
      }
      List<int[]> prompts = new ArrayList<>();
      for (JsonNode one : prompt) {
        prompts.add(
            one.isTextual()
                ? settings.encoder().encode(one.asText(), special)
                : tokenIds(one, field));
      }
      return prompts;
    }
    throw error(400, field + " must be text or token ids");
  }

  final int[] tokenIds(JsonNode ids, String field) {
    int[] tokens = new int[ids.size()];
    for (int i = 0; i < tokens.length; i++) {
      JsonNode id = ids.get(i);
      if (id == null || !id.canConvertToInt() || !id.isIntegralNumber()) {
        throw error(400, field + " must be text or token ids");
      }
      tokens[i] = id.asInt();
    }
    if (tokens.length == 0) {
      throw error(400, field + " must be text or token ids");
    }
    return tokens;
  }

  final void tokenize(HttpExchange exchange) {
    ObjectNode body = body(exchange);
    int[] tokens =
        body.path("messages").isArray()
            ? encodeChat(body)
            : settings
                .encoder()
                .encode(
                    body.path("prompt").asText(body.path("text").asText()),
                    body.path("add_special_tokens").asBoolean(true));
    ObjectNode answer = Json.object();
    answer.put("count", tokens.length).put("max_model_len", settings.core().maxModelLen());
    var array = answer.putArray("tokens");
    for (int token : tokens) {
      array.add(token);
    }
    answer.putNull("token_strs");
    json(exchange, answer);
  }

  /** Answers with the text of token ids, under the name that the engine gives it. */
  final void detokenize(HttpExchange exchange, String name) {
    ObjectNode body = body(exchange);
    int[] tokens = tokenIds(body.path("tokens"), "tokens");
    json(exchange, Json.object().put(name, settings.encoder().decode(tokens)));
  }

  // ---- helpers of the kinds ----

  static boolean bearer(HttpRequest request, String key) {
    return Objects.equals(request.header("authorization"), "Bearer " + key);
  }

  static @Nullable Integer integer(@Nullable String text) {
    if (text == null) {
      return null;
    }
    try {
      return Integer.valueOf(text.strip());
    } catch (NumberFormatException e) {
      return null;
    }
  }

  static @Nullable Integer integer(JsonNode node) {
    return node.canConvertToInt() && node.isNumber() ? node.asInt() : null;
  }

  /** Ids for each sequence: the id itself for one, numbered ones for several. */
  static List<String> numbered(String id, String separator, int items) {
    if (items == 1) {
      return List.of(id);
    }
    List<String> ids = new ArrayList<>(items);
    for (int i = 0; i < items; i++) {
      ids.add(id + separator + i);
    }
    return ids;
  }

  /**
   * Aborts every sequence of a call.
   *
   * @param callId the call's id
   * @return whether there was one
   */
  public final boolean abortCall(String callId) {
    boolean any = false;
    for (Map.Entry<String, Generation> entry : life.active().entrySet()) {
      if (entry.getValue().call().id().equals(callId)) {
        entry.getValue().abort(entry.getKey());
        any = true;
      }
    }
    return any;
  }

  /** Aborts the sequences whose ids are chosen; returns how many there were. */
  final int abort(Predicate<String> chosen) {
    int count = 0;
    for (Map.Entry<String, Generation> entry : life.active().entrySet()) {
      if (chosen.test(entry.getKey())) {
        entry.getValue().abort(entry.getKey());
        count++;
      }
    }
    return count;
  }

  /**
   * Lists what is served.
   *
   * @return as {@code GET /v1/models}
   */
  public final ObjectNode modelList() {
    ObjectNode list = Json.object().put("object", "list");
    var data = list.putArray("data");
    for (String name : settings.servedModels()) {
      data.add(modelCard(name, null));
    }
    for (String adapter : settings.loraAdapters()) {
      data.add(modelCard(adapter, settings.servedModel()));
    }
    return list;
  }

  ObjectNode modelCard(String name, @Nullable String parent) {
    ObjectNode card =
        Json.object()
            .put("id", name)
            .put("object", "model")
            .put("created", life.startedAt().getEpochSecond())
            .put("owned_by", settings.kind().label())
            .put("root", parent == null ? settings.model() : name);
    card.put("parent", parent);
    card.put("max_model_len", settings.core().maxModelLen());
    return card;
  }
}
