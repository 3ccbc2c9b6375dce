package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.PrefillDecodeException;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdTimeouts;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.WorkerRole;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests that a prefill and a decode worker share, through the client, over a transport without
 * sockets. Every test ends with no place taken, no room live and no open response.
 */
class PrefillDecodeTest {
  private static final String WHOLE =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
  private static final String STREAMED = WHOLE.replace("{\"model\"", "{\"stream\":true,\"model\"");
  private static final String ANSWER =
      "{\"choices\":[{\"text\":\"hi\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}";
  private static final String HANDED =
      "{\"choices\":[],\"kv_transfer_params\":{\"remote_request_id\":\"r1\", \"n\":[1]}}";
  private static final Pattern RID = Pattern.compile("\"rid\":\"([0-9a-f]+)\"");
  private static final Pattern ROOM = Pattern.compile("\"bootstrap_room\":(\\d+)");

  private @Nullable RouterClient router;
  private @Nullable ScriptedTransport transport;

  private RouterClient router(
      String engine, int each, PdSettings settings, Function<OutboundRequest, Script> scripts) {
    transport = new ScriptedTransport(scripts);
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(transport)
            .prefillPolicy(Policies.roundRobin())
            .decodePolicy(Policies.roundRobin())
            .prefillDecode(settings)
            .retry(
                new RetrySettings(
                    4, 0.2, 100, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(10)))
            .noWorkerWait(Duration.ZERO)
            .seed(1);
    for (int i = 0; i < each; i++) {
      builder.worker("http://p" + i + ":1;role=prefill;model=m;engine=" + engine);
      builder.worker("http://d" + i + ":1;role=decode;model=m;engine=" + engine);
    }
    router = builder.build();
    return router;
  }

  private RouterClient sglang(Function<OutboundRequest, Script> scripts) {
    return router("sglang", 2, PdSettings.DEFAULT, scripts);
  }

  private RouterClient nixl(Function<OutboundRequest, Script> scripts) {
    return router("vllm", 2, PdSettings.DEFAULT, scripts);
  }

  @AfterEach
  void nothingIsLeft() {
    if (router != null && transport != null) {
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () -> {
                assertThat(router.stats().pd().liveSessions()).isZero();
                assertThat(transport.open).hasValue(0);
              });
      assertThat(router.stats().inFlight()).isZero();
      assertThat(router.stats().pd().liveRooms()).isZero();
      router
          .workers()
          .list()
          .forEach(worker -> worker.ranks().forEach(rank -> assertThat(rank.inFlight()).isZero()));
      router.close();
    }
  }

  private static boolean prefill(OutboundRequest request) {
    return request.target().worker().role() == WorkerRole.PREFILL;
  }

  private static String text(OutboundRequest request) {
    return new String(request.body(), StandardCharsets.UTF_8);
  }

  private static boolean abort(OutboundRequest request) {
    return request.path().equals("/abort_request");
  }

  private static Script streamed() {
    return Script.streams(
        "{\"choices\":[{\"text\":\"a\"}]}",
        "{\"choices\":[{\"text\":\"b\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}");
  }

  private List<OutboundRequest> sent(WorkerRole role) {
    List<OutboundRequest> all = new ArrayList<>();
    for (OutboundRequest request : transport.sent) {
      if (request.target().worker().role() == role && !abort(request)) {
        all.add(request);
      }
    }
    return all;
  }

  private static void meet(CountDownLatch latch) {
    try {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody came");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void i14_a_prefill_that_waits_for_decode_to_connect_is_no_deadlock() {
    CountDownLatch decodeCame = new CountDownLatch(1);
    CountDownLatch prefillCame = new CountDownLatch(1);
    RouterClient client =
        sglang(
            request -> {
              (prefill(request) ? prefillCame : decodeCame).countDown();
              meet(prefill(request) ? decodeCame : prefillCame);
              return Script.ok(ANSWER);
            });
    RouterResponse answer = client.send(RouterRequest.chatCompletions(WHOLE));
    assertThat(answer.text()).isEqualTo(ANSWER);
    assertThat(answer.usage()).isEqualTo(new Usage(5, null, 1));
    RouteDecision why = answer.decision();
    assertThat(why.pd().protocol()).isEqualTo("sglang");
    assertThat(why.pd().prefill()).startsWith("http://p");
    assertThat(why.pd().decode()).startsWith("http://d").isEqualTo(why.chosen().worker());
    assertThat(why.pd().room()).isPositive();
    assertThat(why.pd().requestId()).isEqualTo(rid(sent(WorkerRole.DECODE).get(0)));
    assertThat(why.pd().attempts()).isEqualTo(1);
    assertThat(why.attempts()).hasSizeLessThanOrEqualTo(1);
    // The prefill leg may end after the answer, and the session with it.
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(client.stats().pd().sessions())
                    .isEqualTo(java.util.Map.of("concurrent/completed", 1L)));
  }

  @Test
  void i14_a_decode_that_waits_for_prefill_to_finish_is_no_deadlock_where_legs_are_in_turn() {
    CountDownLatch prefillDone = new CountDownLatch(1);
    RouterClient client =
        nixl(
            request -> {
              if (prefill(request)) {
                prefillDone.countDown();
                return Script.ok(HANDED);
              }
              assertThat(prefillDone.getCount()).as("decode is sent after prefill").isZero();
              return Script.ok(ANSWER);
            });
    RouterResponse answer = client.send(RouterRequest.chatCompletions(WHOLE));
    assertThat(answer.text()).isEqualTo(ANSWER);
    assertThat(text(sent(WorkerRole.DECODE).get(0)))
        .contains("\"kv_transfer_params\":{\"remote_request_id\":\"r1\", \"n\":[1]}");
    assertThat(sent(WorkerRole.DECODE).get(0).headers().get("X-Request-Id"))
        .isEqualTo(sent(WorkerRole.PREFILL).get(0).headers().get("X-Request-Id"));
    assertThat(answer.decision().pd().room()).isZero();
    assertThat(answer.decision().pd().requestId())
        .isEqualTo(sent(WorkerRole.PREFILL).get(0).headers().get("X-Request-Id"));
    assertThat(answer.decision().pd().prefillMillis()).isNotNegative();
  }

  @Test
  void streams_flow_and_both_bodies_meet_in_one_room() {
    RouterClient client = sglang(request -> streamed());
    List<String> data = new ArrayList<>();
    try (RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED))) {
      for (StreamEvent event : stream) {
        data.add(event.data());
      }
      assertThat(stream.usage()).isEqualTo(new Usage(5, null, 2));
      assertThat(stream.decision().pd()).isNotNull();
    }
    assertThat(data).hasSize(2);
    assertThat(room(sent(WorkerRole.PREFILL).get(0)))
        .isEqualTo(room(sent(WorkerRole.DECODE).get(0)))
        .isBetween(1L, 1L << 62);
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(client.stats().pd().legs())
                    .containsEntry("prefill/ok", 1L)
                    .containsEntry("decode/ok", 1L));
  }

  private static String rid(OutboundRequest request) {
    Matcher matcher = RID.matcher(text(request));
    assertThat(matcher.find()).isTrue();
    return matcher.group(1);
  }

  private static long room(OutboundRequest request) {
    Matcher matcher = ROOM.matcher(text(request));
    assertThat(matcher.find()).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  @Test
  void i15_i7_an_error_inside_prefills_stream_is_seen_and_the_next_attempt_has_new_ids() {
    AtomicInteger prefills = new AtomicInteger();
    CountDownLatch failed = new CountDownLatch(1);
    RouterClient client =
        sglang(
            request -> {
              if (abort(request)) {
                return Script.ok("{}");
              }
              if (prefill(request) && prefills.getAndIncrement() == 0) {
                failed.countDown();
                return Script.streams("{\"choices\":[]}").breaking(Kind.STREAM_ERROR);
              }
              return failed.getCount() == 1 ? Script.silent() : streamed();
            });
    try (RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED))) {
      int events = 0;
      for (StreamEvent unused : stream) {
        events++;
      }
      assertThat(events).isEqualTo(2);
      assertThat(stream.decision().pd().attempts()).isEqualTo(2);
    }
    List<OutboundRequest> legs = sent(WorkerRole.PREFILL);
    assertThat(legs).hasSize(2);
    assertThat(room(legs.get(0))).isNotEqualTo(room(legs.get(1)));
    assertThat(rid(legs.get(0))).hasSameSizeAs(rid(legs.get(1))).isNotEqualTo(rid(legs.get(1)));
    assertThat(legs.get(0).rid()).as("aborting is not the transport's").isNull();
    assertThat(legs.get(0).target())
        .as("not the one that failed")
        .isNotEqualTo(legs.get(1).target());
  }

  @Test
  void i10_i16_a_stream_that_breaks_is_an_error_and_is_not_sent_again() {
    RouterClient client =
        sglang(
            request ->
                prefill(request) || abort(request)
                    ? Script.ok(ANSWER)
                    : Script.streams("{\"choices\":[]}").breaking(Kind.PROTOCOL));
    try (RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED))) {
      assertThat(stream.next()).isNotNull();
      PrefillDecodeException broken =
          catchThrowableOfType(PrefillDecodeException.class, stream::next);
      assertThat(broken.phase()).isEqualTo(PrefillDecodeException.Phase.DECODE_STREAM);
      assertThat(broken.blamed()).isEqualTo("decode");
      assertThat(broken.partialOutput()).isTrue();
      assertThat(broken.retryable()).isFalse();
      assertThat(broken.prefillOutcome()).isEqualTo("ok");
    }
    assertThat(sent(WorkerRole.DECODE)).hasSize(1);
  }

  @Test
  void i4_prefills_error_status_cancels_decode_at_once_and_the_pair_is_tried_again() {
    CompletableFuture<String> waiting = new CompletableFuture<>();
    AtomicInteger prefills = new AtomicInteger();
    RouterClient client =
        sglang(
            request -> {
              if (abort(request)) {
                return Script.ok("{}");
              }
              if (prefill(request)) {
                if (prefills.getAndIncrement() > 0) {
                  return Script.ok(ANSWER);
                }
                waiting.join(); // decode is out, and its answer has not begun
                return Script.status(500);
              }
              return waiting.complete(rid(request)) ? Script.silent() : Script.ok(ANSWER);
            });
    RouterResponse answer =
        client
            .sendAsync(RouterRequest.chatCompletions(WHOLE))
            .orTimeout(30, TimeUnit.SECONDS)
            .join();
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.decision().pd().attempts()).isEqualTo(2);
    assertThat(client.stats().pd().legs())
        .containsEntry("prefill/http_error", 1L)
        .containsEntry("decode/cancelled", 1L);
    assertThat(transport.sent.stream().filter(PrefillDecodeTest::abort))
        .as("prefill has ended by itself")
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.target().worker().role()).isEqualTo(WorkerRole.DECODE);
              assertThat(text(request)).isEqualTo("{\"rid\":\"" + waiting.join() + "\"}");
            });
    sent(WorkerRole.DECODE)
        .forEach(
            request -> assertThat(client.breaker(request.target().worker())).isEqualTo("closed"));
  }

  @Test
  void i10_a_client_error_is_the_answer_whichever_worker_gives_it_and_is_not_sent_again() {
    RouterClient client =
        sglang(
            request ->
                abort(request)
                    ? Script.ok("{}")
                    : prefill(request) ? Script.status(400) : Script.silent());
    RouterResponse answer = client.send(RouterRequest.chatCompletions(WHOLE));
    assertThat(answer.status()).isEqualTo(400);
    assertThatThrownBy(() -> client.stream(RouterRequest.chatCompletions(STREAMED)))
        .isInstanceOf(RequestRejectedException.class);
    assertThat(sent(WorkerRole.PREFILL)).as("a 4xx is not retried").hasSize(2);
  }

  @Test
  void i13_closing_a_stream_aborts_it_at_decode_by_its_exact_id() {
    RouterClient client =
        sglang(
            request ->
                prefill(request) || abort(request)
                    ? Script.ok(ANSWER)
                    : Script.streams("{\"choices\":[]}").thenHanging());
    RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED));
    assertThat(stream.next()).isNotNull();
    CompletableFuture<Void> reader =
        CompletableFuture.runAsync(
            () ->
                assertThatThrownBy(stream::next)
                    .isInstanceOf(dev.warmpath.api.RequestCancelledException.class));
    stream.close();
    reader.join();
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(transport.sent.stream().filter(PrefillDecodeTest::abort))
                    .hasSize(1)
                    .allSatisfy(
                        request -> {
                          assertThat(request.target().worker().role()).isEqualTo(WorkerRole.DECODE);
                          assertThat(text(request))
                              .isEqualTo(
                                  "{\"rid\":\"" + rid(sent(WorkerRole.DECODE).get(0)) + "\"}");
                          assertThat(request.admin()).isTrue();
                        }));
  }

  @Test
  void i13_a_stream_that_nobody_reads_when_it_is_closed_ends_without_a_timeout() {
    Duration never = Duration.ofDays(1);
    PdTimeouts timeouts =
        new PdTimeouts(never, never, never, never, never, never, never, never, never, never);
    RouterClient client =
        router(
            "sglang",
            1,
            PdSettings.DEFAULT.withTimeouts(timeouts),
            request ->
                prefill(request) || abort(request)
                    ? Script.ok(ANSWER)
                    : Script.streams("{\"choices\":[]}").thenHanging());
    RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED));
    assertThat(stream.next()).isNotNull();
    stream.close();
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(client.stats().pd().sessions())
                    .containsEntry("concurrent/cancelled", 1L));
    assertThat(client.stats().pd().legs()).containsEntry("decode/cancelled", 1L);
  }

  @Test
  void i13_cancelling_before_the_first_byte_aborts_both() {
    CountDownLatch both = new CountDownLatch(2);
    RouterClient client =
        sglang(
            request -> {
              if (abort(request)) {
                return Script.ok("{}");
              }
              both.countDown();
              return Script.silent();
            });
    CompletableFuture<RouterResponse> future =
        client.sendAsync(RouterRequest.chatCompletions(WHOLE));
    meet(both);
    future.cancel(true);
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(
                        transport.sent.stream()
                            .filter(PrefillDecodeTest::abort)
                            .map(request -> request.target().worker().role()))
                    .containsExactlyInAnyOrder(WorkerRole.PREFILL, WorkerRole.DECODE));
    assertThat(client.stats().pd().sessions()).containsEntry("concurrent/cancelled", 1L);
  }

  @Test
  void a_decode_that_refuses_the_connection_is_replaced_with_the_same_hand_off() {
    AtomicInteger decodes = new AtomicInteger();
    RouterClient client =
        nixl(
            request ->
                prefill(request)
                    ? Script.ok(HANDED)
                    : decodes.getAndIncrement() == 0
                        ? Script.fails(Kind.CONNECT, FailurePhase.CONNECT)
                        : Script.ok(ANSWER));
    RouterResponse answer = client.send(RouterRequest.chatCompletions(WHOLE));
    assertThat(answer.status()).isEqualTo(200);
    assertThat(sent(WorkerRole.PREFILL)).hasSize(1);
    List<OutboundRequest> tried = sent(WorkerRole.DECODE);
    assertThat(tried).hasSize(2);
    assertThat(tried.get(0).target()).isNotEqualTo(tried.get(1).target());
    assertThat(text(tried.get(1))).contains("\"remote_request_id\":\"r1\"");
    assertThat(answer.decision().pd().decode())
        .isEqualTo(tried.get(1).target().worker().id().value());
  }

  @Test
  void i9_a_hand_off_that_decode_may_have_claimed_is_not_given_to_another() {
    AtomicInteger decodes = new AtomicInteger();
    AtomicInteger prefills = new AtomicInteger();
    RouterClient client =
        nixl(
            request ->
                prefill(request)
                    ? Script.ok(HANDED.replace("r1", "r" + prefills.incrementAndGet()))
                    : decodes.getAndIncrement() == 0
                        ? Script.fails(Kind.RESET, FailurePhase.AWAIT_HEADERS)
                        : Script.ok(ANSWER));
    assertThat(client.send(RouterRequest.chatCompletions(WHOLE)).status()).isEqualTo(200);
    assertThat(text(sent(WorkerRole.DECODE).get(0))).contains("\"r1\"");
    assertThat(text(sent(WorkerRole.DECODE).get(1))).contains("\"r2\"");
  }

  @Test
  void decode_recomputes_where_its_engine_can_and_atom_fails_clearly() {
    RouterClient client = nixl(request -> Script.ok(ANSWER));
    assertThat(client.send(RouterRequest.chatCompletions(WHOLE)).status()).isEqualTo(200);
    assertThat(client.stats().pd().recomputes()).isEqualTo(1);
    nothingIsLeft();

    RouterClient atom = router("atom", 1, PdSettings.DEFAULT, request -> Script.ok(ANSWER));
    PrefillDecodeException failed =
        catchThrowableOfType(
            PrefillDecodeException.class, () -> atom.send(RouterRequest.chatCompletions(WHOLE)));
    assertThat(failed.phase()).isEqualTo(PrefillDecodeException.Phase.HANDOFF);
    assertThat(failed.status()).isEqualTo(502);
    assertThat(failed.blamed()).isEqualTo("prefill");
    assertThat(sent(WorkerRole.DECODE)).isEmpty();
  }

  @Test
  void a_short_prompt_goes_to_decode_alone_where_that_is_set() {
    RouterClient client =
        router(
            "vllm",
            1,
            PdSettings.DEFAULT.withDirectBelowTokens(1_000),
            request -> Script.ok(ANSWER));
    RouterResponse answer = client.send(RouterRequest.chatCompletions(WHOLE));
    assertThat(sent(WorkerRole.PREFILL)).isEmpty();
    assertThat(answer.decision().pd().prefill()).isNull();
    assertThat(answer.decision().pd().direct()).contains("fewer than 1000");
    assertThat(client.stats().pd().direct()).isEqualTo(1);
    assertThat(client.explain(RouterRequest.chatCompletions(WHOLE)).pd().direct()).isNotNull();
  }

  @Test
  void one_role_alone_is_refused_clearly() {
    transport = new ScriptedTransport(request -> Script.ok(ANSWER));
    router =
        RouterClient.builder()
            .transport(transport)
            .noWorkerWait(Duration.ZERO)
            .worker("http://p0:1;role=prefill;model=m;engine=sglang")
            .build();
    assertThatThrownBy(() -> router.send(RouterRequest.chatCompletions(WHOLE)))
        .isInstanceOf(NoWorkerAvailableException.class)
        .hasMessageContaining("prefill only: it takes a decode worker beside it");
    assertThatThrownBy(() -> router.explain(RouterRequest.chatCompletions(WHOLE)))
        .isInstanceOf(NoWorkerAvailableException.class);
  }

  @Test
  void what_pairs_do_not_serve_is_refused_by_name() {
    RouterClient client = sglang(request -> Script.ok(ANSWER));
    assertThatThrownBy(
            () -> client.send(RouterRequest.responses("{\"model\":\"m\",\"input\":\"x\"}")))
        .isInstanceOf(NoWorkerAvailableException.class)
        .hasMessageContaining("do not serve /v1/responses");
    assertThat(transport.sent).isEmpty();
  }

  @Test
  void an_opened_exchange_is_decodes_and_prefill_goes_over_the_clients_own_transport()
      throws TransportException {
    RouterClient client = sglang(request -> streamed());
    List<OutboundRequest> carried = new ArrayList<>();
    RequestRunner.Opened opened =
        client.open(
            RouterRequest.chatCompletions(STREAMED),
            outbound -> {
              carried.add(outbound);
              return transport.open(outbound);
            },
            () -> true);
    assertThat(carried).hasSize(1);
    assertThat(carried.get(0).target().worker().role()).isEqualTo(WorkerRole.DECODE);
    assertThat(opened.owner().decision().pd()).isNotNull();
    assertThat(opened.owner().candidate().target()).isEqualTo(carried.get(0).target());
    assertThat(client.stats().inFlight()).isEqualTo(1);
    while (opened.response().nextEvent() != null) {
      opened.finisher().firstByte();
    }
    opened.finisher().completed(200, null);
    opened.response().close();
    // It ends with prefill, which is another thread's.
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(client.stats().inFlight()).isZero());
    assertThat(sent(WorkerRole.PREFILL)).hasSize(1);
  }

  @Test
  void a_body_that_is_not_at_hand_cannot_be_split() {
    RouterClient client = sglang(request -> streamed());
    RouterRequest bare = RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS).build();
    assertThatThrownBy(() -> client.open(bare, transport::open, () -> false))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("JSON object");
  }

  @Test
  void logprobs_of_the_prompt_are_merged_in_whole_answers_and_in_streams() {
    RouterClient client =
        sglang(
            request -> {
              String own = prefill(request) ? "[[-1,5]]" : "[[-2,6]]";
              String answer =
                  "{\"text\":\"\",\"meta_info\":{\"input_token_logprobs\":" + own + "}}";
              return text(request).contains("\"stream\":true")
                  ? Script.streams(answer)
                  : Script.ok(answer);
            });
    String body = "{\"model\":\"m\",\"text\":\"hi\",\"return_logprob\":true}";
    RouterResponse whole = client.send(RouterRequest.builder("/generate").body(body).build());
    assertThat(whole.text()).contains("[[-1,5],[-2,6]]");
    String streamedBody = body.replace("{\"model\"", "{\"stream\":true,\"model\"");
    try (RouterStream stream =
        client.stream(RouterRequest.builder("/generate").body(streamedBody).build())) {
      assertThat(stream.next().data()).contains("[[-1,5],[-2,6]]");
      assertThat(stream.next()).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"KVTransferError: gone\"}}",
        "{\"object\":\"error\",\"message\":\"gone\",\"code\":500}",
        "{\"choices\":[{\"text\":\"\",\"finish_reason\":\"abort\"}]}",
        "{\"text\":\"\",\"meta_info\":{\"finish_reason\":{\"type\": \"abort\"}}}",
        "{\"choices\":[{\"text\":\"h",
        ""
      })
  void i15_i16_a_whole_answer_of_either_worker_is_read_before_it_counts(String wrong) {
    for (WorkerRole role : List.of(WorkerRole.PREFILL, WorkerRole.DECODE)) {
      AtomicInteger asked = new AtomicInteger();
      RouterClient client =
          sglang(
              request ->
                  !abort(request)
                          && request.target().worker().role() == role
                          && asked.getAndIncrement() == 0
                      ? Script.ok(wrong)
                      : Script.ok(ANSWER));
      RouterResponse answer = client.send(RouterRequest.chatCompletions(WHOLE));
      assertThat(answer.text()).isEqualTo(ANSWER);
      assertThat(answer.decision().pd().attempts()).as(role.label()).isEqualTo(2);
      assertThat(client.stats().pd().legs()).containsEntry(role.label() + "/protocol_error", 1L);
      nothingIsLeft();
    }
  }

  @Test
  void i15_a_prefills_stream_that_tells_of_an_abort_has_failed() {
    AtomicInteger prefills = new AtomicInteger();
    RouterClient client =
        sglang(
            request ->
                prefill(request) && !abort(request) && prefills.getAndIncrement() == 0
                    ? Script.streams("{\"choices\":[{\"finish_reason\":\"abort\"}]}")
                    : abort(request) ? Script.ok("{}") : streamed());
    try (RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED))) {
      assertThat(stream.next()).isNotNull();
      assertThat(stream.decision().pd().attempts()).isEqualTo(2);
      assertThat(stream.next()).isNotNull();
      assertThat(stream.next()).isNull();
    }
    assertThat(client.stats().pd().legs()).containsEntry("prefill/protocol_error", 1L);
  }

  @Test
  void i16_a_generation_that_decode_gives_up_midway_is_an_error() {
    RouterClient client =
        sglang(
            request ->
                prefill(request) || abort(request)
                    ? Script.ok(ANSWER)
                    : Script.streams(
                        "{\"choices\":[{\"text\":\"a\"}]}",
                        "{\"choices\":[{\"text\":\"\",\"finish_reason\":\"abort\"}]}"));
    try (RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED))) {
      assertThat(stream.next().data()).contains("\"a\"");
      PrefillDecodeException broken =
          catchThrowableOfType(PrefillDecodeException.class, stream::next);
      assertThat(broken.phase()).isEqualTo(PrefillDecodeException.Phase.DECODE_STREAM);
      assertThat(broken.partialOutput()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PREFILL, Prefill bootstrap failed: KVPoll.Bootstrapping, decode",
    "DECODE, Lost connection with prefill instance, prefill"
  })
  void i12_what_a_workers_error_says_names_the_culprit(
      WorkerRole teller, String words, String culprit) {
    RouterClient client =
        router(
            "sglang",
            1,
            PdSettings.DEFAULT.withMaxAttempts(1),
            request ->
                abort(request)
                    ? Script.ok("{}")
                    : request.target().worker().role() == teller
                        ? Script.status(500).saying(words)
                        : Script.silent());
    PrefillDecodeException failed =
        catchThrowableOfType(
            PrefillDecodeException.class, () -> client.send(RouterRequest.chatCompletions(WHOLE)));
    assertThat(failed.blamed()).isEqualTo(culprit);
    assertThat(failed.status()).isEqualTo(500);
  }

  @Test
  void i17_logprobs_of_a_batch_are_merged_prompt_by_prompt() {
    RouterClient client =
        sglang(
            request -> {
              String token = text(request).contains("\"text\":\"a\"") ? "1" : "2";
              String own = prefill(request) ? "[[-1," + token + "]]" : "[[-2," + token + "]]";
              String answer =
                  "{\"text\":\"\",\"meta_info\":{\"input_token_logprobs\":" + own + "}}";
              return text(request).contains("\"stream\":true")
                  ? Script.streams(answer)
                  : Script.ok(answer);
            });
    String body = "{\"model\":\"m\",\"text\":[\"a\",\"b\"],\"return_logprob\":true}";
    assertThat(client.send(RouterRequest.builder("/generate").body(body).build()).text())
        .startsWith("[")
        .containsSubsequence("[[-1,1],[-2,1]]", "[[-1,2],[-2,2]]");
    String streamedBody = body.replace("{\"model\"", "{\"stream\":true,\"model\"");
    List<String> events = new ArrayList<>();
    try (RouterStream stream =
        client.stream(RouterRequest.builder("/generate").body(streamedBody).build())) {
      stream.forEach(event -> events.add(event.data()));
    }
    assertThat(events)
        .hasSize(2)
        .anyMatch(event -> event.contains("[[-1,1],[-2,1]]") && event.contains("\"index\":0"))
        .anyMatch(event -> event.contains("[[-1,2],[-2,2]]") && event.contains("\"index\":1"));
  }

  @Test
  void a_deadline_ends_both_legs_and_is_named_as_what_it_is() {
    RouterClient client = sglang(request -> abort(request) ? Script.ok("{}") : Script.silent());
    RouterRequest hurried =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
            .body(WHOLE)
            .deadline(Duration.ofMillis(50))
            .build();
    assertThatThrownBy(() -> client.send(hurried)).isInstanceOf(DeadlineExceededException.class);
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(client.stats().pd().sessions()).containsEntry("concurrent/failed", 1L));
    sent(WorkerRole.DECODE)
        .forEach(
            request -> assertThat(client.breaker(request.target().worker())).isEqualTo("closed"));
  }

  @Test
  void i10_a_budget_that_is_spent_and_a_pair_that_keeps_failing_end_with_all_attempts_told() {
    RouterClient client =
        sglang(
            request ->
                abort(request)
                    ? Script.ok("{}")
                    : prefill(request) ? Script.status(500) : Script.silent());
    PrefillDecodeException failed =
        catchThrowableOfType(
            PrefillDecodeException.class, () -> client.send(RouterRequest.chatCompletions(WHOLE)));
    assertThat(failed.attempts()).hasSizeBetween(2, 3);
    assertThat(failed.status()).isEqualTo(500);
    assertThat(failed.blamed()).isEqualTo("prefill");
    assertThat(failed.retryable()).isTrue();
    assertThat(sent(WorkerRole.PREFILL)).hasSize(3);
  }

  @Test
  void a_listener_hears_each_session_as_one_request() {
    List<String> life = java.util.Collections.synchronizedList(new ArrayList<>());
    transport = new ScriptedTransport(request -> Script.ok(ANSWER));
    router =
        RouterClient.builder()
            .transport(transport)
            .worker("http://p0:1;role=prefill;model=m;engine=sglang")
            .worker("http://d0:1;role=decode;model=m;engine=sglang")
            .listener(
                new RouterListener() {
                  @Override
                  public void onRouted(RequestEvent event) {
                    life.add("routed");
                  }

                  @Override
                  public void onAttempt(RequestEvent event) {
                    life.add("attempt " + event.attempt() + " at " + event.worker());
                  }

                  @Override
                  public void onFirstByte(RequestEvent event) {
                    life.add("first byte");
                  }

                  @Override
                  public void onFinished(RequestEvent event) {
                    life.add("finished " + event.outcome());
                  }
                })
            .build();
    assertThat(router.send(RouterRequest.chatCompletions(WHOLE)).status()).isEqualTo(200);
    assertThat(life)
        .containsExactly(
            "routed", "attempt 1 at http://p0:1 > http://d0:1", "first byte", "finished COMPLETED");
  }

  @Test
  void i20_several_samples_are_sessions_of_their_own_in_order() {
    RouterClient client =
        sglang(
            request -> {
              String answer =
                  "{\"id\":\"x\",\"choices\":[{\"index\":0,\"text\":\"hi\"}],"
                      + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}";
              return text(request).contains("\"stream\":true")
                  ? Script.streams(answer)
                  : Script.ok(answer);
            });
    RouterResponse whole =
        client.send(
            RouterRequest.chatCompletions(WHOLE.replace("{\"model\"", "{\"n\":3,\"model\"")));
    assertThat(whole.text())
        .contains("\"index\":0")
        .contains("\"index\":1")
        .contains("\"index\":2")
        .contains("\"prompt_tokens\":15");
    assertThat(whole.usage()).isEqualTo(new Usage(15, null, 3));
    Set<Long> rooms = new HashSet<>();
    sent(WorkerRole.DECODE)
        .forEach(
            request -> {
              rooms.add(room(request));
              assertThat(text(request)).doesNotContain("\"n\":");
            });
    assertThat(rooms).hasSize(3);
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(client.stats().pd().sessions())
                    .containsEntry("concurrent/completed", 3L));

    String prompts = "{\"stream\":true,\"model\":\"m\",\"prompt\":[\"a\",\"b\"]}";
    List<String> events = new ArrayList<>();
    try (RouterStream stream = client.stream(RouterRequest.completions(prompts))) {
      for (StreamEvent event : stream) {
        events.add(event.data());
      }
    }
    assertThat(events).hasSize(2);
    assertThat(String.join("", events)).contains("\"index\":0").contains("\"index\":1");
    assertThat(sent(WorkerRole.DECODE).stream().map(PrefillDecodeTest::text))
        .anyMatch(body -> body.contains("\"prompt\":\"a\""))
        .anyMatch(body -> body.contains("\"prompt\":\"b\""));
  }

  @Test
  void i20_the_first_part_that_fails_ends_its_siblings_and_the_group_ends_once() {
    AtomicInteger decodes = new AtomicInteger();
    RouterClient client =
        router(
            "sglang",
            2,
            PdSettings.DEFAULT.withMaxAttempts(1),
            request ->
                prefill(request) || abort(request)
                    ? Script.ok(ANSWER)
                    : decodes.getAndIncrement() % 3 == 2 ? Script.status(500) : Script.silent());
    String three = WHOLE.replace("{\"model\"", "{\"n\":3,\"model\"");
    assertThat(client.sendAsync(RouterRequest.chatCompletions(three)))
        .failsWithin(Duration.ofSeconds(30))
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(PrefillDecodeException.class);
    assertThat(client.stats().inFlight()).isZero();
    List<Runnable> cancels = new ArrayList<>();
    assertThatThrownBy(
            () ->
                client.open(
                    RouterRequest.chatCompletions(three),
                    request -> {
                      throw new AssertionError("no exchange of the caller's");
                    },
                    () -> true,
                    cancels::add))
        .isInstanceOf(PrefillDecodeException.class);
    assertThat(cancels).hasSize(1);
    assertThat(client.stats().inFlight()).isZero();
  }

  @Test
  void i20_a_part_that_is_refused_ends_its_siblings() {
    AtomicInteger decodes = new AtomicInteger();
    RouterClient client =
        sglang(
            request ->
                prefill(request) || abort(request)
                    ? Script.ok(ANSWER)
                    : decodes.getAndIncrement() % 3 == 2 ? Script.status(400) : Script.silent());
    String three = WHOLE.replace("{\"model\"", "{\"n\":3,\"model\"");
    assertThat(client.sendAsync(RouterRequest.chatCompletions(three)))
        .succeedsWithin(Duration.ofSeconds(30))
        .matches(answer -> answer.status() == 400);
    String streamed = three.replace("{\"n\"", "{\"stream\":true,\"n\"");
    assertThat(client.streamAsync(RouterRequest.chatCompletions(streamed)))
        .failsWithin(Duration.ofSeconds(30))
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(RequestRejectedException.class);
    assertThat(sent(WorkerRole.DECODE)).hasSize(6);
  }

  @Test
  void i20_a_part_that_is_refused_last_is_the_answer_of_the_whole() {
    CountDownLatch answered = new CountDownLatch(1);
    AtomicInteger decodes = new AtomicInteger();
    RouterClient client =
        sglang(
            request -> {
              if (prefill(request) || abort(request)) {
                return Script.ok(ANSWER);
              }
              if (decodes.getAndIncrement() % 2 == 0) {
                return Script.ok(ANSWER);
              }
              // The other part's session is over by then.
              await()
                  .atMost(Duration.ofMinutes(1))
                  .until(() -> router.stats().pd().sessions().containsKey("concurrent/completed"));
              answered.countDown();
              return Script.status(400);
            });
    String two = WHOLE.replace("{\"model\"", "{\"n\":2,\"model\"");
    assertThat(client.send(RouterRequest.chatCompletions(two)).status()).isEqualTo(400);
    assertThat(answered.getCount()).isZero();
  }

  @Test
  void i13_a_request_that_is_cancelled_before_it_begins_leaves_no_session() {
    RouterClient client = sglang(request -> Script.silent());
    for (int i = 0; i < 200; i++) {
      client.sendAsync(RouterRequest.chatCompletions(WHOLE)).cancel(true);
    }
    await().atMost(Duration.ofMinutes(1)).until(() -> client.stats().inFlight() == 0);
  }

  @Test
  void a_generation_that_decode_gives_up_unasked_is_no_answer() {
    AtomicInteger decodes = new AtomicInteger();
    RouterClient client =
        sglang(
            request ->
                prefill(request) || abort(request)
                    ? Script.ok(ANSWER)
                    : decodes.getAndIncrement() == 0
                        ? Script.streams("{\"choices\":[{\"finish_reason\":\"abort\"}]}")
                        : streamed());
    try (RouterStream stream = client.stream(RouterRequest.chatCompletions(STREAMED))) {
      assertThat(stream.next().data()).contains("\"a\"");
      assertThat(stream.next().data()).contains("\"b\"");
      assertThat(stream.next()).isNull();
    }
    assertThat(sent(WorkerRole.DECODE)).hasSize(2);
  }

  @Test
  void many_at_once_leave_nothing_behind_and_share_no_room() {
    Set<Long> rooms = java.util.concurrent.ConcurrentHashMap.newKeySet();
    RouterClient client =
        sglang(
            request -> {
              if (prefill(request)) {
                rooms.add(room(request));
              }
              return text(request).contains("\"stream\":true") ? streamed() : Script.ok(ANSWER);
            });
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      all.add(
          i % 2 == 0
              ? client.sendAsync(RouterRequest.chatCompletions(WHOLE))
              : client
                  .streamAsync(RouterRequest.chatCompletions(STREAMED))
                  .thenAccept(
                      stream -> {
                        while (stream.next() != null) {
                          // read to the end
                        }
                      }));
    }
    CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).join();
    assertThat(new HashSet<>(rooms)).hasSize(200);
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(client.stats().pd().sessions())
                    .containsEntry("concurrent/completed", 200L));
  }
}
