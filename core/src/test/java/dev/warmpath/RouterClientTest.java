package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterClosedException;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.StreamHandle;
import dev.warmpath.api.StreamInterruptedException;
import dev.warmpath.api.StreamListener;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.dispatch.Profile;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The whole path of a request, over a transport without sockets. Every test ends with no lease and
 * no open response.
 */
class RouterClientTest {
  private static final String WHOLE =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
  private static final String STREAMED = WHOLE.replace("{\"model\"", "{\"stream\":true,\"model\"");
  private static final String ANSWER =
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":4}}}";

  private final List<RouterListener.RequestEvent> finished = new ArrayList<>();
  private final List<String> life = new ArrayList<>();
  private final List<RouterListener.DeadLetter> dead = new ArrayList<>();
  private @Nullable RouterClient router;
  private @Nullable ScriptedTransport transport;

  private RouterClient router(int workers, Function<OutboundRequest, Script> scripts) {
    return router(workers, scripts, UnaryOperator.identity());
  }

  private RouterClient router(
      int workers,
      Function<OutboundRequest, Script> scripts,
      UnaryOperator<RouterClient.Builder> more) {
    transport = new ScriptedTransport(scripts);
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(transport)
            .policy(Policies.roundRobin())
            .retry(
                new RetrySettings(
                    4, 0.2, 100, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(10)))
            .noWorkerWait(Duration.ZERO)
            .seed(1)
            .listener(
                new RouterListener() {
                  @Override
                  public void onRouted(RequestEvent event) {
                    life.add("routed");
                  }

                  @Override
                  public void onAttempt(RequestEvent event) {
                    life.add("attempt " + event.attempt());
                  }

                  @Override
                  public void onFirstByte(RequestEvent event) {
                    life.add("first byte");
                  }

                  @Override
                  public void onAttemptFailed(RequestEvent event) {
                    life.add("attempt failed");
                  }

                  @Override
                  public void onFinished(RequestEvent event) {
                    life.add("finished " + event.outcome());
                    finished.add(event);
                  }

                  @Override
                  public void onDeadLetter(DeadLetter letter) {
                    dead.add(letter);
                  }
                });
    for (int i = 0; i < workers; i++) {
      // The model is given: one worker up makes the client ready, and the others must be candidates
      // by then, probed or not.
      builder.worker("http://w" + i + ":1;engine=vllm;model=m");
    }
    router = more.apply(builder).build();
    assertThat(router.awaitReady(workers > 0 ? Duration.ofSeconds(30) : Duration.ZERO))
        .isEqualTo(workers > 0);
    return router;
  }

  @AfterEach
  void nothingIsLeft() {
    if (router != null && transport != null) {
      assertThat(router.stats().inFlight()).isZero();
      assertThat(router.stats().waiting()).isZero();
      router
          .workers()
          .list()
          .forEach(worker -> worker.ranks().forEach(rank -> assertThat(rank.inFlight()).isZero()));
      router.close();
      assertThat(transport.open).hasValue(0);
    }
  }

  /** The n-th exchange (from 1) gets the n-th script, later ones the last. */
  private static Function<OutboundRequest, Script> inTurn(Script... scripts) {
    AtomicInteger turn = new AtomicInteger();
    return request -> scripts[Math.min(scripts.length - 1, turn.getAndIncrement())];
  }

  private static RouterRequest whole() {
    return RouterRequest.chatCompletions(WHOLE);
  }

  private static RouterRequest streamed() {
    return RouterRequest.chatCompletions(STREAMED);
  }

  @Test
  void sendsAndTellsWhy() {
    RouterResponse response = router(2, request -> Script.ok(ANSWER)).send(whole());
    assertThat(response.status()).isEqualTo(200);
    assertThat(response.usage()).isEqualTo(new Usage(5, 4, 1));
    RouteDecision decision = response.decision();
    assertThat(decision.policy()).isEqualTo("round_robin");
    assertThat(decision.chosen()).isNotNull();
    assertThat(decision.attempts()).singleElement().satisfies(a -> assertThat(a.error()).isNull());
    assertThat(life).containsExactly("routed", "attempt 1", "first byte", "finished COMPLETED");
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 429, 500, 502, 503, 504, 529})
  void triesAnotherWorkerAfterStatusesThatMayPass(int status) {
    RouterResponse response =
        router(2, inTurn(Script.status(status), Script.ok(ANSWER))).send(whole());
    assertThat(response.status()).isEqualTo(200);
    assertThat(response.decision().attempts()).hasSize(2);
    assertThat(transport.sent.stream().map(sent -> sent.target().worker().id()).distinct())
        .hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 409, 413, 422})
  void givesOtherClientErrorsBackAsTheyAre(int status) {
    RouterResponse response = router(2, request -> Script.status(status)).send(whole());
    assertThat(response.status()).isEqualTo(status);
    assertThat(transport.sent).hasSize(1);
    assertThat(router.breaker(router.workers().list().get(0).worker())).isEqualTo("closed");
  }

  @Test
  void neverSendsAgainToTheWorkerThatHasJustFailed() {
    router(3, request -> Script.fails(Kind.CONNECT, FailurePhase.CONNECT));
    AllAttemptsFailedException error =
        catchThrowableOfType(AllAttemptsFailedException.class, () -> router.send(whole()));
    assertThat(error.attempts()).hasSize(4);
    for (int i = 1; i < 4; i++) {
      assertThat(error.attempts().get(i).worker())
          .isNotEqualTo(error.attempts().get(i - 1).worker());
    }
    assertThat(error.attempts())
        .allSatisfy(attempt -> assertThat(attempt.phase()).isEqualTo(FailurePhase.CONNECT));
    assertThat(dead).hasSize(1);
  }

  @Test
  void triesTheOnlyWorkerAgain() {
    RouterResponse response =
        router(1, inTurn(Script.status(500), Script.status(500), Script.ok(ANSWER))).send(whole());
    assertThat(response.decision().attempts()).hasSize(3);
  }

  @Test
  void replaysAStaleConnectionOnTheSameWorkerFirstAndFreeOfBudget() {
    router(
        2,
        inTurn(Script.fails(Kind.STALE_CONNECTION, FailurePhase.AWAIT_HEADERS), Script.ok(ANSWER)));
    long before = router.stats().retriesLeft();
    router.send(whole());
    assertThat(transport.sent.stream().map(sent -> sent.target().worker().id()).distinct())
        .hasSize(1);
    assertThat(router.stats().retriesLeft()).isEqualTo(before);
  }

  @Test
  void retriesAWholeAnswerThatBroke() {
    RouterResponse response =
        router(2, inTurn(Script.ok(ANSWER).breaking(Kind.RESET), Script.ok(ANSWER))).send(whole());
    assertThat(response.decision().attempts()).hasSize(2);
  }

  @Test
  void stopsWhenTheRetryBudgetIsSpent() {
    router(
        3,
        request -> Script.status(503),
        builder ->
            builder.retry(
                new RetrySettings(10, 0, 2, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1))));
    AllAttemptsFailedException error =
        catchThrowableOfType(AllAttemptsFailedException.class, () -> router.send(whole()));
    assertThat(error.attempts()).hasSize(3);
  }

  @Test
  void honoursRetryAfterOfEveryWorkerUpToItsLimit() {
    router(2, request -> Script.status(429, "Retry-After", "3600"));
    RouterOverloadedException error =
        catchThrowableOfType(RouterOverloadedException.class, () -> router.send(whole()));
    assertThat(error.retryAfter()).isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
    assertThat(transport.sent).hasSize(2);
    assertThat(router.breaker(router.workers().list().get(0).worker())).isEqualTo("closed");
  }

  @Test
  void setsAWorkerAsideThatKeepsFailing() {
    router(2, request -> badHost(request) ? Script.status(500) : Script.ok(ANSWER));
    for (int i = 0; i < 40; i++) {
      assertThat(router.send(whole()).status()).isEqualTo(200);
    }
    long toBad = transport.sent.stream().filter(RouterClientTest::badHost).count();
    assertThat(toBad).isBetween(5L, 10L);
  }

  private static boolean badHost(OutboundRequest request) {
    return request.target().worker().id().value().contains("w0");
  }

  @Test
  void streamsEventsAndUsage() {
    router(2, request -> Script.streams("{\"a\":1}", "{\"b\":2}", ANSWER));
    List<String> seen = new ArrayList<>();
    try (RouterStream stream = router.stream(streamed())) {
      for (StreamEvent event : stream) {
        seen.add(event.data());
      }
      assertThat(stream.usage()).isEqualTo(new Usage(5, 4, 1));
      assertThat(stream.next()).isNull();
    }
    assertThat(seen).containsExactly("{\"a\":1}", "{\"b\":2}", ANSWER);
    assertThat(life).endsWith("finished COMPLETED");
  }

  @Test
  void retriesAStreamUntilItsFirstEvent() {
    router(2, inTurn(Script.streams().breaking(Kind.RESET), Script.streams("{}")));
    try (RouterStream stream = router.stream(streamed())) {
      assertThat(stream.next()).isNotNull();
      assertThat(stream.next()).isNull();
      assertThat(stream.decision().attempts()).hasSize(2);
    }
  }

  @Test
  void neverSendsAStreamAgainOnceAnEventCame() {
    router(2, request -> Script.streams("{}").breaking(Kind.RESET));
    try (RouterStream stream = router.stream(streamed())) {
      assertThat(stream.next()).isNotNull();
      assertThatThrownBy(stream::next).isInstanceOf(StreamInterruptedException.class);
    }
    assertThat(transport.sent).hasSize(1);
    assertThat(life).endsWith("attempt failed", "finished FAILED");
  }

  @Test
  void refusesAStreamThatItsWorkerRefuses() {
    router(2, request -> Script.status(400));
    assertThatThrownBy(() -> router.stream(streamed()))
        .isInstanceOfSatisfying(
            RequestRejectedException.class, e -> assertThat(e.status()).isEqualTo(400));
  }

  @Test
  void cancelsAtTheWorkerWhenAStreamIsClosedEarly() {
    router(1, request -> Script.streams("{}").thenHanging());
    RouterStream stream = router.stream(streamed());
    assertThat(stream.next()).isNotNull();
    stream.close();
    stream.close();
    assertThat(transport.cancelled).hasValue(1);
    assertThat(finished)
        .singleElement()
        .satisfies(e -> assertThat(e.outcome()).isEqualTo(RouterListener.Outcome.CANCELLED));
    assertThatThrownBy(stream::next).isInstanceOf(RequestCancelledException.class);
  }

  @Test
  void endsAStreamThatItsReaderForgot() throws Exception {
    router(1, request -> Script.streams("{}").thenHanging());
    router.stream(streamed());
    for (int i = 0; i < 200 && router.stats().inFlight() > 0; i++) {
      System.gc();
      new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
    }
    assertThat(router.stats().inFlight()).isZero();
  }

  @Test
  void endsAtItsDeadline() {
    router(1, request -> Script.silent());
    assertThatThrownBy(
            () -> router.send(whole().toBuilder().deadline(Duration.ofMillis(30)).build()))
        .isInstanceOf(DeadlineExceededException.class);
  }

  @Test
  void endsAFutureThatIsCancelled() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    router(
        1,
        request -> {
          arrived.countDown();
          return Script.silent();
        });
    CompletableFuture<RouterResponse> future = router.sendAsync(whole());
    assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();
    awaitInFlight(1);
    future.cancel(true);
    awaitInFlight(0);
  }

  private void awaitInFlight(int n) throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < 3_000 && router.stats().inFlight() != n; i++) {
      never.await(10, TimeUnit.MILLISECONDS);
    }
    assertThat(router.stats().inFlight()).isEqualTo(n);
  }

  @Test
  void publishesAsFarAsItIsAsked() throws Exception {
    router(1, request -> Script.streams("{\"a\":1}", "{\"b\":2}", "{\"c\":3}"));
    List<String> signals = new ArrayList<>();
    CountDownLatch two = new CountDownLatch(2);
    CountDownLatch end = new CountDownLatch(1);
    AtomicReference<Flow.Subscription> subscription = new AtomicReference<>();
    RouterStream stream = router.stream(streamed());
    Flow.Publisher<StreamEvent> publisher = stream.publisher();
    publisher.subscribe(
        new Flow.Subscriber<>() {
          @Override
          public void onSubscribe(Flow.Subscription given) {
            subscription.set(given);
            given.request(2);
          }

          @Override
          public void onNext(StreamEvent event) {
            signals.add(event.data());
            two.countDown();
          }

          @Override
          public void onError(Throwable error) {
            signals.add(error.toString());
            end.countDown();
          }

          @Override
          public void onComplete() {
            signals.add("end");
            end.countDown();
          }
        });
    assertThat(two.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(signals).containsExactly("{\"a\":1}", "{\"b\":2}");
    subscription.get().request(10);
    assertThat(end.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(signals).containsExactly("{\"a\":1}", "{\"b\":2}", "{\"c\":3}", "end");
    AtomicReference<Throwable> refused = new AtomicReference<>();
    publisher.subscribe(new Refused(refused));
    assertThat(refused.get()).isInstanceOf(IllegalStateException.class);
  }

  private record Refused(AtomicReference<Throwable> error) implements Flow.Subscriber<StreamEvent> {
    @Override
    public void onSubscribe(Flow.Subscription subscription) {}

    @Override
    public void onNext(StreamEvent event) {}

    @Override
    public void onError(Throwable cause) {
      error.set(cause);
    }

    @Override
    public void onComplete() {}
  }

  @Test
  void handsEventsToAListener() throws Exception {
    router(1, request -> Script.streams("{\"a\":1}", ANSWER));
    List<String> heard = new ArrayList<>();
    StreamHandle handle =
        router.stream(
            streamed(),
            new StreamListener() {
              @Override
              public void onOpen(RouteDecision decision) {
                heard.add("open");
              }

              @Override
              public void onEvent(StreamEvent event) {
                heard.add(event.data());
              }

              @Override
              public void onComplete(@Nullable Usage usage) {
                heard.add("complete " + (usage == null ? null : usage.cachedTokens()));
              }

              @Override
              public void onError(RuntimeException error) {
                heard.add(error.toString());
              }
            });
    handle.done().get(30, TimeUnit.SECONDS);
    assertThat(heard).containsExactly("open", "{\"a\":1}", ANSWER, "complete 4");
  }

  @Test
  void survivesListenersThatThrow() {
    router(
        1,
        request -> Script.ok(ANSWER),
        builder ->
            builder.listener(
                new RouterListener() {
                  @Override
                  public void onRouted(RequestEvent event) {
                    throw new IllegalStateException("listener");
                  }

                  @Override
                  public void onAttempt(RequestEvent event) {
                    throw new AssertionError("listener");
                  }

                  @Override
                  public void onFinished(RequestEvent event) {
                    throw new IllegalStateException("listener");
                  }
                }));
    assertThat(router.send(whole()).status()).isEqualTo(200);
  }

  @Test
  void survivesATransportThatThrows() {
    router(
        1,
        request -> {
          throw new IllegalStateException("transport");
        });
    assertThatThrownBy(() -> router.send(whole()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("transport");
  }

  @Test
  void queuesBeyondItsLimitAndRefusesBeyondItsQueue() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch arrived = new CountDownLatch(1);
    router(
        1,
        request -> {
          arrived.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return Script.ok(ANSWER);
        },
        builder -> builder.admission(new AdmissionSettings(1, 1, Duration.ofSeconds(30))));
    CompletableFuture<RouterResponse> first = router.sendAsync(whole());
    assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<RouterResponse> second = router.sendAsync(whole());
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < 3_000 && router.stats().waiting() == 0; i++) {
      never.await(10, TimeUnit.MILLISECONDS);
    }
    assertThatThrownBy(() -> router.send(whole())).isInstanceOf(RouterOverloadedException.class);
    release.countDown();
    assertThat(first.get(30, TimeUnit.SECONDS).status()).isEqualTo(200);
    assertThat(second.get(30, TimeUnit.SECONDS).status()).isEqualTo(200);
    awaitInFlight(0);
  }

  @Test
  void saysWhoCannotServeAModelAndWhy() {
    router(2, request -> Script.ok(ANSWER));
    RouterRequest other = RouterRequest.chatCompletions(WHOLE.replace("\"m\"", "\"other\""));
    NoWorkerAvailableException error =
        catchThrowableOfType(NoWorkerAvailableException.class, () -> router.send(other));
    assertThat(error.reasons()).hasSize(2);
    assertThat(error.getMessage()).contains("other").contains("[m]");
    router.workers().drain("http://w0:1");
    router.workers().drain("http://w1:1");
    assertThatThrownBy(() -> router.send(whole()))
        .isInstanceOf(NoWorkerAvailableException.class)
        .hasMessageContaining("draining");
    assertThat(dead).isEmpty();
  }

  @Test
  void saysThatThereIsNoWorker() {
    router(0, request -> Script.ok(ANSWER), builder -> builder);
    assertThatThrownBy(() -> router.send(whole()))
        .isInstanceOf(NoWorkerAvailableException.class)
        .hasMessageContaining("no worker is known");
  }

  @Test
  void changesItsWorkersAtRunTime() throws Exception {
    router(1, request -> Script.ok(ANSWER));
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < 3_000 && router.models().isEmpty(); i++) {
      never.await(10, TimeUnit.MILLISECONDS);
    }
    assertThat(router.models()).extracting("id").containsExactly("m");
    router.workers().add("http://added:2");
    assertThat(router.workers().remove("http://w0:1")).isTrue();
    assertThat(router.workers().remove("http://w0:1")).isFalse();
    assertThat(router.send(whole()).decision().chosen().worker()).isEqualTo("http://added:2");
  }

  @Test
  void goesByTheProfileThatIsAskedFor() {
    router(
        2,
        request -> Script.ok(ANSWER),
        builder -> builder.profile("spread", new Profile(Policies.random(), null, null, 0)));
    assertThat(router.send(whole().toBuilder().profile("spread").build()).decision().policy())
        .isEqualTo("random");
    assertThatThrownBy(() -> router.send(whole().toBuilder().profile("none").build()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("spread");
  }

  @Test
  void explainsWithoutSendingOrTakingATurn() {
    router(3, request -> Script.ok(ANSWER));
    String first = router.explain(whole()).chosen().worker();
    assertThat(router.explain(whole()).chosen().worker()).isEqualTo(first);
    assertThat(transport.sent).isEmpty();
    assertThat(router.explain(whole()).candidates()).hasSize(3);
    assertThat(router.send(whole()).decision().chosen().worker()).isEqualTo(first);
  }

  @Test
  void namesTheRankAndIdToTheEngineAndKeepsRoutingHeadersHome() {
    router(1, request -> Script.ok(ANSWER));
    router.send(
        whole().toBuilder()
            .header("x-warmpath-session", "s")
            .header("Authorization", "Bearer mine")
            .header("traceparent", "t")
            .build());
    OutboundRequest sent = transport.sent.peek();
    assertThat(sent.headers().get("x-warmpath-session")).isNull();
    assertThat(sent.headers().get("Authorization")).isNull();
    assertThat(sent.headers().get("traceparent")).isEqualTo("t");
    assertThat(sent.headers().get("X-Request-Id")).matches("[0-9a-f]{32}");
    assertThat(sent.headers().get("X-data-parallel-rank")).isNull();
  }

  @Test
  void keepsDeadLettersWithinTheirBudget() {
    router(1, request -> Script.status(500), builder -> builder.deadLetterBytes(2_500));
    for (int i = 0; i < 4; i++) {
      assertThatThrownBy(() -> router.send(whole())).isInstanceOf(AllAttemptsFailedException.class);
    }
    assertThat(router.deadLetters().drain()).hasSize(2);
    assertThat(router.deadLetters().dropped()).isEqualTo(2);
    assertThat(router.deadLetters().drain()).isEmpty();
  }

  @Test
  void letsWhatRunsFinishBeforeItCloses() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch arrived = new CountDownLatch(1);
    router(
        1,
        request -> {
          arrived.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return Script.ok(ANSWER);
        });
    CompletableFuture<RouterResponse> running = router.sendAsync(whole());
    assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();
    Thread closer = new Thread(() -> router.close(Duration.ofSeconds(60)));
    closer.start();
    CountDownLatch never = new CountDownLatch(1);
    boolean refused = false;
    for (int i = 0; i < 3_000 && !refused; i++) {
      try {
        router.explain(whole());
        CompletableFuture<RouterResponse> late = router.sendAsync(whole());
        never.await(5, TimeUnit.MILLISECONDS);
        refused = late.isCompletedExceptionally();
      } catch (RouterClosedException e) {
        refused = true;
      }
    }
    assertThat(refused).isTrue();
    release.countDown();
    assertThat(running.get(30, TimeUnit.SECONDS).status()).isEqualTo(200);
    closer.join(30_000);
    assertThat(closer.isAlive()).isFalse();
    assertThatThrownBy(() -> router.send(whole())).isInstanceOf(RouterClosedException.class);
  }

  @Test
  void cancelsWhatStillRunsWhenItsGraceIsOver() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    router(
        1,
        request -> {
          arrived.countDown();
          return Script.silent();
        });
    CompletableFuture<RouterResponse> running = router.sendAsync(whole());
    assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();
    router.close(Duration.ofMillis(1));
    assertThatThrownBy(() -> running.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(RequestCancelledException.class);
  }

  @Test
  void needsATransport() {
    assertThatThrownBy(() -> RouterClient.builder().build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("OkHttpTransport");
  }

  @Test
  void showsNoBodyInAnyMessage() {
    router(1, request -> Script.status(500));
    AllAttemptsFailedException error =
        catchThrowableOfType(AllAttemptsFailedException.class, () -> router.send(whole()));
    assertThat(error.toString()).doesNotContain("hello");
    assertThat(whole().toString()).doesNotContain("hello");
    assertThat(transport.sent.peek().toString()).doesNotContain("hello");
  }
}
