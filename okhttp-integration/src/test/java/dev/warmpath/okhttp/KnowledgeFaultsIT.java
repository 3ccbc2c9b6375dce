package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.NodeStatus;
import dev.warmpath.knowledge.RegistrySettings;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.Scheduler;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over sockets: a node that lies, hangs, flaps or disappears costs no request. */
class KnowledgeFaultsIT {
  private static final String TEXT = "all about warm paths. ".repeat(100).strip();
  private static final String ID = KnowledgeIds.of(TEXT);
  private static final String SNAPSHOT =
      RawWorker.json(
          200,
          "{\"items\":[{\"kid\":\""
              + ID
              + "\",\"length\":"
              + TEXT.length()
              + ",\"kv_ready\":1,\"more\":[{}]}],\"count\":1}");
  private static final String TEXTS =
      RawWorker.json(
          200, "{\"items\":[{\"id\":\"" + ID + "\",\"content\":\"" + TEXT + "\"}],\"miss\":[]}");
  private static final String INJECTED =
      RawWorker.json(200, "{\"ok\":true,\"injected_kids\":[\"" + ID + "\"],\"payload_bytes\":77}");

  /** Long where a test must not hit it. */
  private static final Duration PATIENT = Duration.ofSeconds(60);

  /** Short where a test is about an answer that doesn't come. */
  private static final Duration SHORT = Duration.ofMillis(200);

  private static final Set<String> SILENT = Set.of("hang", "drop", "endless");

  private final MockWorker worker = MockWorker.started();
  private final Turns turns = new Turns();
  private InjectionSettings injection = waiting(PATIENT);
  private RegistrySettings registry = resting(Duration.ofHours(1));

  /** Real time whose tasks run when a test says so, on its thread. */
  private static final class Turns implements Scheduler {
    private final Deque<Runnable> tasks = new ArrayDeque<>();

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public Task schedule(Duration delay, Runnable task) {
      tasks.addLast(task);
      return () -> tasks.remove(task);
    }

    void run() {
      for (int due = tasks.size(); due > 0; due--) {
        tasks.removeFirst().run();
      }
    }

    @Override
    public void close() {
      tasks.clear();
    }
  }

  private static InjectionSettings waiting(Duration timeout) {
    return InjectionSettings.builder().textTimeout(timeout).kvTimeout(timeout).build();
  }

  private static RegistrySettings resting(Duration rest) {
    return new RegistrySettings(PATIENT, PATIENT, PATIENT, rest, 8, 8, 8);
  }

  private static Duration timeoutOf(String fault) {
    return SILENT.contains(fault) ? SHORT : PATIENT;
  }

  @AfterEach
  void close() {
    worker.close();
  }

  private KnowledgeRouting knowledge(String node) {
    KnowledgeRouting routing =
        KnowledgeRouting.builder()
            .transport(OkHttpKnowledgeTransport.create())
            .node("a", URI.create(node))
            .registry(registry)
            .injection(injection)
            .scheduler(turns)
            .executor(Runnable::run)
            .build();
    turns.run();
    return routing;
  }

  private Fixture over(String node, String workerLabels) {
    KnowledgeRouting routing = knowledge(node);
    return Fixture.over(
        builder -> builder.policy(Policies.knowledge()).knowledge(routing),
        worker.url() + ";engine=vllm" + workerLabels);
  }

  private static RouterRequest request(KnowledgeInjection way) {
    return RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
        .body(Fixture.BODY)
        .knowledge(KnowledgeNeeds.ids(ID).injectedAs(way))
        .build();
  }

  private static KnowledgeInfo send(Fixture fixture, KnowledgeInjection way) {
    RouterResponse response = fixture.router().send(request(way));
    assertThat(response.status()).isEqualTo(200);
    return response.decision().knowledge();
  }

  @Test
  void textAndKvComeOverHttp() {
    try (RawWorker node = new RawWorker((path, n) -> path.endsWith("snapshot") ? SNAPSHOT : TEXTS);
        RawWorker instance = new RawWorker((path, n) -> INJECTED);
        Fixture fixture = over(node.url(), ";knowledge-inject=" + instance.url())) {
      KnowledgeInfo info = send(fixture, KnowledgeInjection.KV);

      assertThat(info.injected()).isEqualTo("kv");
      assertThat(info.kv()).isEqualTo("injected");
      assertThat(info.transferredBytes()).isEqualTo(77);
      assertThat(worker.next().getBody().utf8())
          .contains("\"system\",\"content\":\"" + TEXT + "\"");
      assertThat(instance.next()).isEqualTo("request /v1/kv/inject_ready");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"hang", "garbage", "array", "status", "lie", "drop", "endless", "nothing"})
  void aNodeThatDoesntDeliverCostsNoRequest(String fault) {
    injection = waiting(timeoutOf(fault));
    try (RawWorker node =
            new RawWorker((path, n) -> path.endsWith("snapshot") ? SNAPSHOT : faulty(fault));
        Fixture fixture = over(node.url(), "")) {
      KnowledgeInfo first = send(fixture, KnowledgeInjection.AUTO);
      KnowledgeInfo second = send(fixture, KnowledgeInjection.AUTO);

      assertThat(first.node()).isEqualTo("a");
      assertThat(first.injected()).isEqualTo("nothing");
      assertThat(first.missing()).containsExactly(ID);
      boolean rests = !fault.equals("nothing");
      assertThat(second.node()).isEqualTo(rests ? null : "a");
      assertThat(worker.next().getBody().utf8()).isEqualTo(Fixture.BODY);
      assertThat(worker.next().getBody().utf8()).isEqualTo(Fixture.BODY);
    }
  }

  private static String faulty(String fault) {
    return switch (fault) {
      case "hang" -> null;
      case "garbage" -> RawWorker.json(200, "{\"items\":[{\"id\"");
      case "array" -> RawWorker.json(200, "[1,2]");
      case "status" -> RawWorker.json(503, "{}");
      case "lie" -> TEXTS.replace("warm", "cold");
      case "drop" -> TEXTS.substring(0, TEXTS.length() - 40);
      case "endless" -> RawWorker.stream("{\"items\":[");
      default -> RawWorker.json(200, "{\"items\":[],\"miss\":[\"" + ID + "\"]}");
    };
  }

  @Test
  void aNodeThatDisappearsCostsNoRequest() {
    RawWorker node = new RawWorker((path, n) -> path.endsWith("snapshot") ? SNAPSHOT : TEXTS);
    try (Fixture fixture = over(node.url(), "")) {
      node.close();

      KnowledgeInfo info = send(fixture, KnowledgeInjection.AUTO);

      assertThat(info.injected()).isEqualTo("nothing");
      turns.run(); // the next snapshot fails: what was known stays until its time is up
      assertThat(fixture.router().knowledge().orElseThrow().registry().nodes())
          .singleElement()
          .returns(true, NodeStatus::alive)
          .satisfies(status -> assertThat(status.trouble()).isPresent());
    }
  }

  @Test
  void aNodeThatFlapsIsUsedAgain() {
    registry = resting(Duration.ZERO);
    AtomicInteger asked = new AtomicInteger();
    try (RawWorker node =
            new RawWorker(
                (path, n) ->
                    path.endsWith("snapshot")
                        ? SNAPSHOT
                        : asked.getAndIncrement() == 0 ? RawWorker.json(500, "{}") : TEXTS);
        Fixture fixture = over(node.url(), "")) {
      assertThat(send(fixture, KnowledgeInjection.AUTO).injected()).isEqualTo("nothing");
      assertThat(send(fixture, KnowledgeInjection.AUTO).injected()).isEqualTo("text");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"hang", "garbage", "status", "refused"})
  void anInstanceThatDoesntTakeKvFallsThroughToText(String fault) {
    injection =
        InjectionSettings.builder().textTimeout(PATIENT).kvTimeout(timeoutOf(fault)).build();
    String unsaid = RawWorker.json(200, "{\"ok\":false,\"injected_kids\":[\"" + ID + "\"]}");
    try (RawWorker node = new RawWorker((path, n) -> path.endsWith("snapshot") ? SNAPSHOT : TEXTS);
        RawWorker instance =
            new RawWorker((path, n) -> fault.equals("refused") ? unsaid : faulty(fault));
        Fixture fixture = over(node.url(), ";knowledge-inject=" + instance.url())) {
      KnowledgeInfo info = send(fixture, KnowledgeInjection.KV);

      assertThat(info.kv()).isNotNull().isNotEqualTo("injected");
      assertThat(worker.next().getBody().utf8()).contains(TEXT);
    }
  }

  @Test
  void aRequestThatIsCancelledWhileItsKvIsAwaitedIsOver() {
    try (RawWorker node = new RawWorker((path, n) -> path.endsWith("snapshot") ? SNAPSHOT : TEXTS);
        RawWorker instance = new RawWorker((path, n) -> null);
        Fixture fixture = over(node.url(), ";knowledge-inject=" + instance.url())) {
      CompletableFuture<RouterResponse> answer =
          fixture.router().sendAsync(request(KnowledgeInjection.KV));
      assertThat(instance.next()).isEqualTo("request /v1/kv/inject_ready");

      answer.cancel(true);

      fixture.assertIdle();
      assertThat(instance.next()).isEqualTo("drop /v1/kv/inject_ready");
      assertThat(worker.requests()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"hang", "garbage", "array", "status", "drop", "endless"})
  void aNodeThatTellsNothingOfWhatItHasIsNotAsked(String fault) {
    registry = registry.withPollTimeout(timeoutOf(fault));
    try (RawWorker node = new RawWorker((path, n) -> faulty(fault));
        Fixture fixture = over(node.url(), "")) {
      KnowledgeInfo info = send(fixture, KnowledgeInjection.AUTO);

      assertThat(info.node()).isNull();
      assertThat(worker.next().getBody().utf8()).isEqualTo(Fixture.BODY);
    }
  }
}
