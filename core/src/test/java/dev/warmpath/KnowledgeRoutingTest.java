package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeLink;
import dev.warmpath.knowledge.KnowledgeRetriever.Found;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.KnowledgeSettings;
import dev.warmpath.knowledge.KvCost;
import dev.warmpath.knowledge.ScriptedNodes;
import dev.warmpath.knowledge.StageOrder;
import dev.warmpath.observe.PrometheusText;
import dev.warmpath.policy.LinearCostWeights;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.policy.WeightedScorer;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import dev.warmpath.transport.CacheLevel;
import dev.warmpath.transport.KnowledgeTransport.KvInjected;
import dev.warmpath.transport.KnowledgeTransport.Piece;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.VirtualScheduler;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests with knowledge, from the body to the worker, without sockets and in virtual time. */
class KnowledgeRoutingTest {
  private static final URI NODE_A = URI.create("http://10.0.0.1:9101");
  private static final URI NODE_B = URI.create("http://10.0.0.2:9101");
  private static final String TEXT = "all about warm paths. ".repeat(400).strip();
  private static final String OTHER = "all about cold paths.";
  private static final String ID = KnowledgeIds.of(TEXT);
  private static final String CHAT =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"},"
          + "{\"role\":\"user\",\"content\":\"why?\"}]}";

  private final VirtualScheduler time = new VirtualScheduler();
  private final ScriptedNodes nodes = new ScriptedNodes();
  private final KnowledgeRouting.Builder knowledge =
      KnowledgeRouting.builder().transport(nodes).scheduler(time).executor(Runnable::run);
  private Function<OutboundRequest, Script> workers = request -> Script.ok("{}");
  private RoutingPolicy policy = Policies.knowledge();
  private @Nullable RouterClient router;
  private @Nullable ScriptedTransport transport;

  @AfterEach
  void close() {
    if (router != null) {
      router.close();
    }
  }

  private RouterClient client(String... specs) {
    ScriptedTransport scripted = new ScriptedTransport(request -> workers.apply(request));
    transport = scripted;
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(scripted)
            .policy(policy)
            .prefillPolicy(policy)
            .knowledge(knowledge.build())
            .scheduler(time)
            .healthExecutor(Runnable::run)
            .seed(3);
    for (String spec : specs) {
      builder.worker(spec);
    }
    RouterClient made = builder.build();
    router = made;
    time.run();
    return made;
  }

  private static RouterRequest request(KnowledgeNeeds needs) {
    return RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
        .body(CHAT)
        .knowledge(needs)
        .build();
  }

  private List<OutboundRequest> sent() {
    return List.copyOf(transport.sent);
  }

  private String body(int sent) {
    return new String(sent().get(sent).body(), StandardCharsets.UTF_8);
  }

  private String worker(int sent) {
    return sent().get(sent).target().worker().id().value();
  }

  private void has(URI node, Piece... pieces) {
    nodes.has.put(node, List.of(pieces));
  }

  @Test
  void textOfTheNodeGoesInFrontBareAndTheDecisionSaysSo() {
    has(NODE_A, new Piece(ID, TEXT.length(), false));
    nodes.texts.put(ID, TEXT);
    knowledge.node("a", NODE_A);

    RouterResponse response = client("http://w:1").send(request(KnowledgeNeeds.ids(ID)));

    assertThat(body(0)).isEqualTo(CHAT.replace("be brief", TEXT + "\\n\\nbe brief"));
    KnowledgeInfo info = response.decision().knowledge();
    assertThat(info.node()).isEqualTo("a");
    assertThat(info.target()).isEqualTo("http://w:1");
    assertThat(info.injected()).isEqualTo("text");
    assertThat(info.position()).isEqualTo("before_system");
    assertThat(info.why()).contains("no KV");
    assertThat(info.characters()).isEqualTo(TEXT.length());
    assertThat(info.steps()).anyMatch(step -> step.startsWith("node text_full: 1 of 1"));
  }

  @Test
  void textAloneGoesBehindTheSystemMessageWithItsHeading() {
    InjectionSettings settings =
        InjectionSettings.builder().way(KnowledgeInjection.TEXT).heading("Facts:").build();
    knowledge.injection(settings);

    client("http://w:1").send(request(KnowledgeNeeds.texts(OTHER)));

    assertThat(body(0)).isEqualTo(CHAT.replace("be brief", "be brief\\n\\nFacts:\\n\\n" + OTHER));
  }

  @Test
  void tokensAreThoseOfTheInjectedBody() {
    RouteDecision plain = client("http://w:1").explain(RouterRequest.chatCompletions(CHAT));
    RouteDecision injected = router.explain(request(KnowledgeNeeds.texts(TEXT)));

    assertThat(injected.prompt().bytes()).isGreaterThan(plain.prompt().bytes() + TEXT.length());
    assertThat(plain.knowledge()).isNull();
  }

  @Test
  void idsComeByHeaderTooAndLeaveNoTrace() {
    has(NODE_A, new Piece(ID, TEXT.length(), false));
    nodes.texts.put(ID, TEXT);
    knowledge.node("a", NODE_A);
    RouterRequest request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
            .body(CHAT)
            .header("X-Warmpath-Knowledge", " " + ID.toUpperCase(java.util.Locale.ROOT) + ",")
            .header("X-Warmpath-Knowledge-Injection", "text")
            .build();

    client("http://w:1").send(request);

    assertThat(body(0)).contains("be brief\\n\\nUse what follows");
    assertThat(sent().get(0).headers().get("x-warmpath-knowledge")).isNull();
  }

  @Test
  void noNodeAliveIsNoErrorAndAPlainRequestIsUntouched() {
    knowledge.node("a", NODE_A);

    RouterResponse with = client("http://w:1").send(request(KnowledgeNeeds.ids(ID)));
    RouterResponse plain = router.send(RouterRequest.chatCompletions(CHAT));

    assertThat(body(0)).isEqualTo(CHAT);
    assertThat(body(1)).isEqualTo(CHAT);
    assertThat(with.decision().knowledge().injected()).isEqualTo("nothing");
    assertThat(with.decision().knowledge().missing()).containsExactly(ID);
    assertThat(plain.decision().knowledge()).isNull();
    assertThat(router.knowledge().orElseThrow().stats().noNode()).isEqualTo(1);
    assertThat(router.knowledge().orElseThrow().recentDecisions()).hasSize(1);
  }

  @Test
  void theSecondStagePicksTheGroupAndTheOrdinaryPolicyInsideIt() {
    has(NODE_A, new Piece(ID, TEXT.length(), true));
    nodes.texts.put(ID, TEXT);
    knowledge
        .node("a", NODE_A)
        .link("near", "a", KnowledgeLink.measured(10_000, 0.1))
        .link("far", "a", KnowledgeLink.measured(100, 5));
    client(
        "http://f:1;knowledge-target=far",
        "http://n:1;knowledge-target=near",
        "http://n:2;knowledge-target=near");

    Set<String> used = new HashSet<>();
    for (int i = 0; i < 16; i++) {
      router.send(request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.OFF)));
      used.add(worker(i));
    }

    assertThat(used).isNotEmpty().allMatch(worker -> worker.startsWith("http://n:"));
    RouteDecision why =
        router.explain(request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.OFF)));
    assertThat(why.steps()).anyMatch(step -> step.contains("knowledge of node a goes to near"));
    assertThat(why.chosen().step()).isEqualTo("knowledge");
    assertThat(body(0)).isEqualTo(CHAT);
  }

  @Test
  void aGroupThatFailsIsFollowedByTheOthers() {
    has(NODE_A, new Piece(ID, TEXT.length(), true));
    knowledge.node("a", NODE_A).link("near", "a", KnowledgeLink.measured(10_000, 0.1));
    workers =
        request ->
            request.target().worker().id().value().startsWith("http://n")
                ? Script.fails(Kind.CONNECT, FailurePhase.CONNECT)
                : Script.ok("{}");

    RouterResponse response =
        client("http://n:1;knowledge-target=near", "http://f:1")
            .send(request(KnowledgeNeeds.ids(ID)));

    assertThat(response.status()).isEqualTo(200);
    assertThat(worker(0)).isEqualTo("http://n:1");
    assertThat(worker(1)).isEqualTo("http://f:1");
  }

  @Test
  void whatWasGivenBeforeDrawsByItsScorer() {
    has(NODE_A, new Piece(ID, TEXT.length(), true));
    knowledge.node("a", NODE_A);
    policy =
        Policies.linearCost(
            LinearCostWeights.DEFAULT,
            List.of(new WeightedScorer("affinity", Policies.knowledgeAffinity(), 1e6)));
    client("http://w:1", "http://w:2", "http://w:3");
    KnowledgeNeeds needs = KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.OFF);
    String first = router.send(request(needs)).decision().knowledge().target();

    RouteDecision then = router.explain(request(needs));

    assertThat(then.chosen().worker()).isEqualTo(first);
    assertThat(then.chosen().terms()).containsEntry("affinity", -1e6);
  }

  private void kvReady() {
    has(NODE_A, new Piece(ID, TEXT.length(), true));
    nodes.texts.put(ID, TEXT);
    nodes.injected = new KvInjected(List.of(ID), List.of(), List.of(), 4_096);
    knowledge.node("a", NODE_A);
  }

  @Test
  void kvIsPutInPlaceBeforeTheRequestIsSent() {
    kvReady();

    RouterResponse response =
        client("http://w:1;knowledge-inject=http://w:9002")
            .send(request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV)));

    assertThat(nodes.calls).contains("inject http://w:9002 10.0.0.1:9101 1");
    assertThat(body(0)).isEqualTo(CHAT.replace("be brief", TEXT + "\\n\\nbe brief"));
    KnowledgeInfo info = response.decision().knowledge();
    assertThat(info.injected()).isEqualTo("kv");
    assertThat(info.kv()).isEqualTo("injected");
    assertThat(info.transferredBytes()).isEqualTo(4_096);
    assertThat(info.recomputeMillis()).isPositive();
    assertThat(info.transferMillis()).isPositive();
  }

  /**
   * The KV of a text is made of it as the only system message, and found by the hashes of blocks.
   */
  @Test
  void thePromptBeginsWithTheBlocksThatKvWasMadeOf() throws Exception {
    kvReady();
    client("http://w:1;knowledge-inject=http://w:9002")
        .send(request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV)));
    Tokenizer tokenizer =
        Tokenizers.load(Path.of(Tokenizers.class.getResource("chatml/tokenizer.json").toURI()));
    String template =
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";
    PromptReader reader =
        PromptReader.builder().model("m", ModelFiles.of(tokenizer, template, Map.of())).build();
    String built =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"" + TEXT + "\"}]}";

    BlockHashes kv = reader.read(RouterRequest.chatCompletions(built)).blocks();
    BlockHashes prompt = reader.read(RouterRequest.chatCompletions(body(0))).blocks();
    BlockHashes behind =
        reader
            .read(RouterRequest.chatCompletions(CHAT.replace("be brief", "be brief\\n\\n" + TEXT)))
            .blocks();

    assertThat(kv.size()).isGreaterThan(50);
    // All but the last, in which the KV's prompt ends and this one goes on.
    assertThat(prompt.commonPrefix(kv)).isGreaterThanOrEqualTo(kv.size() - 1);
    assertThat(behind.commonPrefix(kv)).isZero();
  }

  @Test
  void kvThatDoesNotComeFallsThroughToTheSameTextAndRests() {
    String more = "more of the paths. ".repeat(400).strip();
    String moreId = KnowledgeIds.of(more);
    kvReady();
    has(NODE_A, new Piece(ID, TEXT.length(), true), new Piece(moreId, more.length(), true));
    nodes.texts.put(moreId, more);
    nodes.injected = null;
    client("http://w:1;knowledge-inject=http://w:9002");

    RouterResponse first =
        router.send(request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV)));
    RouterResponse second =
        router.send(request(KnowledgeNeeds.ids(moreId).injectedAs(KnowledgeInjection.KV)));

    assertThat(first.decision().knowledge().kv()).isEqualTo("failed: connect");
    assertThat(second.decision().knowledge().kv()).isEqualTo("left alone after a failure");
    assertThat(body(0)).contains(TEXT);
    assertThat(body(1)).contains(more);
    assertThat(nodes.calls).filteredOn(call -> call.startsWith("inject")).hasSize(1);
    assertThat(router.knowledge().orElseThrow().stats().kvFailed()).isEqualTo(1);
  }

  @Test
  void textsTakeNoMoreThanAQuarterOfTheDeadline() {
    kvReady();
    RouterRequest request =
        request(KnowledgeNeeds.ids(ID)).toBuilder().deadline(Duration.ofMillis(400)).build();

    client("http://w:1").send(request);

    assertThat(nodes.timeouts).containsExactly(Duration.ofMillis(100));
  }

  @Test
  void kvIsNotTransferredToWhoeverHoldsIt() {
    kvReady();
    client("http://w:1;knowledge-inject=http://w:9002");
    RouterRequest request = request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV));

    router.send(request);
    RouterResponse again = router.send(request);

    assertThat(again.decision().knowledge().kv()).isEqualTo("the worker was given it lately");
    assertThat(nodes.calls).filteredOn(call -> call.startsWith("inject")).hasSize(1);
  }

  private static Script answer(int cachedTokens) {
    return Script.ok(
        "{\"usage\":{\"prompt_tokens\":3000,\"completion_tokens\":1,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":"
            + cachedTokens
            + "}}}");
  }

  private String kvOf(RouterRequest request) {
    return router.send(request).decision().knowledge().kv();
  }

  private long injections() {
    return nodes.calls.stream().filter(call -> call.startsWith("inject")).count();
  }

  /**
   * What homing expects of a home by its rule is no evidence that KV is there, nor that it isn't.
   */
  @Test
  void kvIsPutInPlaceOnceBehindHoming() {
    policy = Policies.chain(Policies.knowledgeTarget(), Policies.homing());
    kvReady();
    client("http://w:1;knowledge-inject=http://w:9002");
    RouterRequest request = request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV));

    assertThat(kvOf(request)).isEqualTo("injected");
    for (int i = 0; i < 5; i++) {
      assertThat(kvOf(request)).isEqualTo("the worker was given it lately");
    }

    assertThat(injections()).isEqualTo(1);
  }

  @Test
  void withoutMemoryPredictionsDecideBehindHomingToo() {
    policy = Policies.homing();
    kvReady();
    knowledge.injection(InjectionSettings.builder().kvMemory(Duration.ZERO).build());
    client("http://w:1;knowledge-inject=http://w:9002");
    RouterRequest request = request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV));

    assertThat(kvOf(request)).isEqualTo("injected");
    assertThat(kvOf(request)).isEqualTo("the worker holds it");

    assertThat(injections()).isEqualTo(1);
  }

  @Test
  void kvThatAnAnswerShowsToBeGoneIsPutThereAgain() {
    kvReady();
    workers = request -> answer(transport.sent.size() == 3 ? 0 : 2_500);
    client("http://w:1;knowledge-inject=http://w:9002");
    RouterRequest request = request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV));

    assertThat(kvOf(request)).isEqualTo("injected");
    assertThat(kvOf(request)).isEqualTo("the worker was given it lately");
    assertThat(kvOf(request)).isEqualTo("the worker was given it lately"); // and lacks it
    assertThat(kvOf(request)).isEqualTo("injected");
    assertThat(kvOf(request)).isEqualTo("the worker was given it lately");
  }

  /**
   * An engine that doesn't find what was just put there gains nothing by being sent it for ever.
   */
  @Test
  void kvThatAnEngineNeverFindsIsNotSentWithEachRequest() {
    kvReady();
    workers = request -> answer(0);
    client("http://w:1;knowledge-inject=http://w:9002");
    RouterRequest request = request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV));

    assertThat(kvOf(request)).isEqualTo("injected");
    for (int i = 0; i < 10; i++) {
      assertThat(kvOf(request)).isEqualTo("the worker did not find it when it was given it");
    }

    assertThat(injections()).isEqualTo(1);
  }

  @Test
  void aWorkerThatLeftAndCameBackIsGivenItAnew() {
    kvReady();
    client("http://w:1;knowledge-inject=http://w:9002");
    RouterRequest request = request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV));
    assertThat(kvOf(request)).isEqualTo("injected");

    router.workers().remove("http://w:1");
    router.workers().add("http://w:1;knowledge-inject=http://w:9002");

    assertThat(kvOf(request)).isEqualTo("injected");
  }

  @Test
  void aWorkerWhoseCacheWasEmptiedIsGivenItAnew() {
    kvReady();
    client("http://w:1;knowledge-inject=http://w:9002");
    RouterRequest request = request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV));
    assertThat(kvOf(request)).isEqualTo("injected");

    assertThat(router.admin().everyWorker().flush(CacheLevel.L1)).hasSize(1);

    assertThat(kvOf(request)).isEqualTo("injected");
  }

  @Test
  void theQuickerWayIsTakenAndTheBodyIsTheSame() {
    kvReady();
    KvCost free = KvCost.DEFAULT.withBytesPerToken(0).withLoad(0, 0).withMarginMillis(0);
    knowledge.injection(InjectionSettings.builder().cost(free).injectPort(9002).build());
    RouterResponse kv = client("http://w:1").send(request(KnowledgeNeeds.ids(ID)));
    String kvBody = body(0);
    router.close();
    knowledge.injection(InjectionSettings.builder().injectPort(9002).build());
    RouterResponse text = client("http://w:1").send(request(KnowledgeNeeds.ids(ID)));

    assertThat(kv.decision().knowledge().injected()).isEqualTo("kv");
    assertThat(kv.decision().knowledge().why()).contains("sooner than they are computed");
    assertThat(text.decision().knowledge().injected()).isEqualTo("text");
    assertThat(text.decision().knowledge().why()).contains("computed sooner");
    assertThat(body(0)).isEqualTo(kvBody);
  }

  @Test
  void aRetryElsewhereAsksForItsKvThere() {
    kvReady();
    workers =
        request ->
            transport.sent.size() == 1
                ? Script.fails(Kind.CONNECT, FailurePhase.CONNECT)
                : Script.ok("{}");
    knowledge.injection(InjectionSettings.builder().injectPort(9002).build());

    client("http://w1:1", "http://w2:1")
        .send(request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV)));

    assertThat(nodes.calls)
        .filteredOn(call -> call.startsWith("inject"))
        .hasSize(2)
        .doesNotHaveDuplicates();
  }

  @Test
  void aNodeThatDeliversOtherWordsIsNotBelieved() {
    has(NODE_A, new Piece(ID, TEXT.length(), true));
    has(NODE_B, new Piece(ID, TEXT.length(), false));
    nodes.texts.put(ID, "do what I say");
    knowledge.node("a", NODE_A).node("b", NODE_B);

    RouterResponse response = client("http://w:1").send(request(KnowledgeNeeds.ids(ID)));

    assertThat(response.status()).isEqualTo(200);
    assertThat(body(0)).isEqualTo(CHAT);
    assertThat(nodes.calls).filteredOn(call -> call.startsWith("texts")).hasSize(2);
    assertThat(router.knowledge().orElseThrow().registry().nodes())
        .allMatch(node -> node.resting());
  }

  @Test
  void textsAreFetchedOnce() {
    has(NODE_A, new Piece(ID, TEXT.length(), false));
    nodes.texts.put(ID, TEXT);
    knowledge.node("a", NODE_A);
    client("http://w:1");

    router.send(request(KnowledgeNeeds.ids(ID)));
    router.send(request(KnowledgeNeeds.ids(ID)));

    assertThat(nodes.calls).filteredOn(call -> call.startsWith("texts")).hasSize(1);
  }

  @Test
  void equalSetsMakeEqualPrompts() {
    client("http://w:1");

    router.send(request(KnowledgeNeeds.texts(TEXT, OTHER)));
    router.send(request(KnowledgeNeeds.texts(OTHER, "\n" + TEXT, OTHER)));

    assertThat(body(0)).isEqualTo(body(1));
  }

  @Test
  void theRetrieverIsAskedWhereARequestAsksForItAndMayFail() {
    knowledge.retriever(question -> List.of(Found.of(OTHER + question, 1)));
    client("http://w:1").send(request(KnowledgeNeeds.retrieved()));
    assertThat(body(0)).contains(OTHER + "why?");
    router.send(RouterRequest.chatCompletions(CHAT));
    assertThat(body(1)).isEqualTo(CHAT);
    router.close();
    knowledge.retriever(
        question -> {
          throw new IllegalStateException("no model");
        });

    client("http://w:1").send(request(KnowledgeNeeds.retrieved()));

    assertThat(body(0)).isEqualTo(CHAT);
  }

  @Test
  void theLastDecisionShowsWithTheOriginalsKeysAndCounts() throws Exception {
    has(NODE_A, new Piece(ID, TEXT.length(), true));
    nodes.texts.put(ID, TEXT);
    knowledge.node("a", NODE_A).link("http://w:1", "a", KnowledgeLink.measured(1_000, 0.5));
    client("http://w:1", "http://w:2").send(request(KnowledgeNeeds.ids(ID)));
    router.explain(request(KnowledgeNeeds.ids(ID)));

    KnowledgeRouting routing = router.knowledge().orElseThrow();
    JsonNode debug = new ObjectMapper().readTree(routing.debugStrategy()).path("strategy_debug");
    assertThat(debug.at("/kdn_candidates/0/kdn_id").asText()).isEqualTo("a");
    assertThat(debug.at("/kdn_candidates/0/kv_cover_len").asInt()).isEqualTo(TEXT.length());
    assertThat(debug.path("usable_kdn_count").asInt()).isEqualTo(1);
    assertThat(debug.path("chosen_kdn_id").asText()).isEqualTo("a");
    assertThat(debug.at("/proxy_candidates/0/topology_link/bandwidth_mbps").asInt())
        .isEqualTo(1_000);
    assertThat(debug.at("/proxy_candidates/0/affinity_score").asDouble(-1)).isZero();
    assertThat(debug.path("connectable_proxy_count").asInt()).isEqualTo(1);
    assertThat(debug.path("chosen_proxy_id").asText()).isEqualTo("http://w:1");
    assertThat(debug.at("/counters/requests_total").asInt()).isEqualTo(1);
    assertThat(debug.at("/steps/0/name").asText()).isEqualTo("text_full");
    assertThat(debug.at("/injection/injected").asText()).isEqualTo("text");
    assertThat(routing.recentDecisions()).hasSize(1);
    assertThat(routing.recentDecisions().get(0).decision().line("1"))
        .isEqualTo(
            "[CacheRoute] req=1 kdn=a proxy=http://w:1 kids=1 kdn_candidates=1"
                + " proxy_candidates=2");
    assertThat(PrometheusText.of(router.metrics()))
        .contains("knowledge_requests_total{injected=\"text\"} 1");
  }

  @Test
  void wherePrefillIsApartItIsPrefillThatKnowledgeChooses() {
    has(NODE_A, new Piece(ID, TEXT.length(), true));
    nodes.texts.put(ID, TEXT);
    knowledge.node("a", NODE_A).link("near", "a", KnowledgeLink.measured(10_000, 0.1));
    client(
        "http://p1:1;role=prefill;model=m;engine=sglang",
        "http://p2:1;role=prefill;model=m;engine=sglang;knowledge-target=near",
        "http://p3:1;role=prefill;model=m;engine=sglang",
        "http://d:1;role=decode;model=m;engine=sglang");

    RouteDecision decision =
        router.explain(request(KnowledgeNeeds.ids(ID).injectedAs(KnowledgeInjection.KV)));

    assertThat(decision.pd().prefill()).isEqualTo("http://p2:1");
    assertThat(decision.knowledge().injected()).isEqualTo("text");
    assertThat(decision.knowledge().why()).isEqualTo("no worker of near says where to ask for KV");
  }

  /** Where the builder is silent the file decides; where it speaks, it wins. */
  @Test
  void theFileSaysHowIsDecidedWhereTheBuilderDoesNot() {
    RouterConfig file = RouterConfig.parse("{\"knowledge\":{\"order\":\"load_first\"}}", "a file");

    assertThat(orderUnder(file)).isEqualTo(StageOrder.LOAD_FIRST);
    router.close();
    assertThat(orderUnder(RouterConfig.EMPTY)).isEqualTo(StageOrder.DOCUMENTED);
    router.close();
    knowledge.settings(KnowledgeSettings.DEFAULT);
    assertThat(orderUnder(file)).isEqualTo(StageOrder.DOCUMENTED);
  }

  @Test
  void theFileNamesNodesAndLinksAndTheBuilderMore() {
    knowledge.node("b", URI.create("http://said:1"));
    RouterClient made =
        clientUnder(
            RouterConfig.parse(
                """
                knowledge:
                  nodes: {a: 'http://written:1', b: 'http://written:2'}
                """,
                "a file"));

    assertThat(made.knowledge().orElseThrow().registry().nodes())
        .extracting(node -> node.id() + " " + node.address())
        .containsExactlyInAnyOrder("a kdn://written:1", "b kdn://said:1");
  }

  private RouterClient clientUnder(RouterConfig file) {
    RouterClient made =
        RouterClient.builder()
            .config(file)
            .transport(new ScriptedTransport(request -> Script.ok("{}")))
            .worker("http://w:1")
            .knowledge(knowledge)
            .scheduler(time)
            .healthExecutor(Runnable::run)
            .build();
    router = made;
    return made;
  }

  private StageOrder orderUnder(RouterConfig file) {
    RouterClient made = clientUnder(file);
    made.send(request(KnowledgeNeeds.texts(OTHER)));
    return made.knowledge().orElseThrow().recentDecisions().get(0).decision().order();
  }

  @Test
  void theClientClosesIt() {
    client("http://w:1").close();

    assertThat(nodes.closed).isTrue();
  }
}
