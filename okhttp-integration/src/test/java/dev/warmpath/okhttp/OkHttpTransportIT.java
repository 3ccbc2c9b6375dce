package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.StreamInterruptedException;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import mockwebserver3.MockResponse;
import mockwebserver3.RecordedRequest;
import mockwebserver3.SocketEffect;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.tls.HandshakeCertificates;
import okhttp3.tls.HeldCertificate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What has gone wrong on the wire between routers and engines, each shown not to. */
class OkHttpTransportIT {
  private static final String EVENT = "data: " + MockWorker.CHUNK + "\n\n";

  private final MockWorker first = MockWorker.started();
  private final MockWorker second = MockWorker.started();

  @AfterEach
  void stop() {
    first.close();
    second.close();
  }

  /** The first request over both workers is answered in one way, all others in another. */
  private void firstThen(
      Function<RecordedRequest, MockResponse> once, Function<RecordedRequest, MockResponse> then) {
    AtomicInteger served = new AtomicInteger();
    Function<RecordedRequest, MockResponse> answer =
        request -> (served.incrementAndGet() == 1 ? once : then).apply(request);
    first.answers(answer);
    second.answers(answer);
  }

  private int requests() {
    return first.requests().size() + second.requests().size();
  }

  private static List<String> drain(RouterStream stream) {
    List<String> events = new ArrayList<>();
    for (StreamEvent event : stream) {
      events.add(event.data());
    }
    return events;
  }

  // The worker notices a cancellation at once

  @Test
  void anInterruptWhileWaitingForTheFirstTokenDropsTheConnection() throws Exception {
    try (RawWorker silent = new RawWorker((path, number) -> null);
        Fixture fixture = Fixture.over(silent.url() + ";engine=vllm")) {
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                try {
                  fixture.router().send(Fixture.chatRequest());
                  thrown.complete(null);
                } catch (RuntimeException e) {
                  thrown.complete(e);
                }
              });
      caller.start();
      silent.next();
      caller.interrupt();
      assertThat(silent.next()).isEqualTo("drop /v1/chat/completions");
      assertThat(thrown.get(60, TimeUnit.SECONDS)).isInstanceOf(RequestCancelledException.class);
      caller.join();
      assertThat(fixture.breaker(silent.url())).isEqualTo("closed");
    }
  }

  @Test
  void aThreadThatIsInterruptedAlreadySendsNothing() throws Exception {
    try (Fixture fixture = Fixture.over(first)) {
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                Thread.currentThread().interrupt();
                try {
                  fixture.router().send(Fixture.chatRequest());
                  thrown.complete(null);
                } catch (Throwable e) {
                  thrown.complete(e);
                }
              });
      caller.start();
      assertThat(thrown.get(60, TimeUnit.SECONDS)).isInstanceOf(RequestCancelledException.class);
      caller.join();
      fixture.assertIdle();
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @Test
  void anotherThreadMayCloseAStreamThatIsBeingRead() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming(EVENT, open));
    try (Fixture fixture = Fixture.over(first)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      stream.next();
      CountDownLatch reading = new CountDownLatch(1);
      CompletableFuture<Void> read =
          CompletableFuture.runAsync(
              () -> {
                reading.countDown();
                assertThatThrownBy(stream::next).isInstanceOf(RequestCancelledException.class);
              });
      reading.await();
      stream.close();
      read.get(60, TimeUnit.SECONDS);
      fixture.assertIdle();
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
      open.countDown();
    }
  }

  // Stale keep-alive connections

  @Test
  void aStaleConnectionIsReplayedOnTheSameWorker() {
    Function<RecordedRequest, MockResponse> closesOld =
        r -> r.getExchangeIndex() > 0 ? MockWorker.closesAfterRequest() : MockWorker.ok();
    first.answers(closesOld);
    second.answers(closesOld);
    try (Fixture fixture = Fixture.over(first, second)) {
      fixture.router().send(Fixture.chatRequest());
      fixture.router().send(Fixture.chatRequest());
      RouterResponse response = fixture.router().send(Fixture.chatRequest());
      List<AttemptRecord> attempts = response.decision().attempts();
      assertThat(attempts).hasSize(2);
      assertThat(attempts.get(0).worker()).isEqualTo(attempts.get(1).worker());
      assertThat(attempts.get(0).phase()).isEqualTo(FailurePhase.AWAIT_HEADERS);
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
      assertThat(fixture.breaker(second.url())).isEqualTo("closed");
    }
  }

  @Test
  void aFreshConnectionThatClosesIsNoStaleOne() {
    firstThen(request -> MockWorker.closesAfterRequest(), request -> MockWorker.ok());
    try (Fixture fixture = Fixture.over(first, second)) {
      RouterResponse response = fixture.router().send(Fixture.chatRequest());
      List<AttemptRecord> attempts = response.decision().attempts();
      assertThat(attempts).hasSize(2);
      assertThat(attempts.get(0).worker()).isNotEqualTo(attempts.get(1).worker());
      assertThat(fixture.breaker(attempts.get(0).worker())).isEqualTo("open");
    }
  }

  @Test
  void aPooledConnectionThatBreaksWithinAResponseIsNotReplayedAsStale() {
    first.answers(
        request ->
            request.getExchangeIndex() == 0
                ? MockWorker.ok()
                : MockWorker.stream(EVENT.repeat(2_000))
                    .onResponseBody(new SocketEffect.CloseSocket())
                    .build());
    try (Fixture fixture = Fixture.over(first)) {
      fixture.router().send(Fixture.chatRequest());
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      assertThatThrownBy(() -> drain(stream)).isInstanceOf(StreamInterruptedException.class);
      assertThat(first.requests()).hasSize(2);
    }
  }

  @Test
  void idleConnectionsAreKeptForLessThanFiveSeconds() {
    assertThat(OkHttpTransport.DEFAULT_KEEP_ALIVE).isLessThan(Duration.ofSeconds(5));
    try (Fixture fixture = Fixture.over(first)) {
      fixture.router().send(Fixture.chatRequest());
      fixture.router().send(Fixture.chatRequest());
      assertThat(first.requests())
          .extracting(RecordedRequest::getConnectionIndex)
          .containsExactly(0, 0);
    }
  }

  // Limits and bodies

  @Test
  void noHiddenLimitHoldsRequestsBack() throws Exception {
    int many = 70;
    CountDownLatch all = new CountDownLatch(many);
    first.answers(
        request -> {
          all.countDown();
          try {
            assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          return MockWorker.ok();
        });
    try (Fixture fixture = Fixture.over(first)) {
      List<CompletableFuture<RouterResponse>> sent = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        sent.add(fixture.router().sendAsync(Fixture.chatRequest()));
      }
      for (CompletableFuture<RouterResponse> response : sent) {
        assertThat(response.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8 << 20, 40 << 20})
  void largeBodiesPassBothWays(int size) {
    String json = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(size) + "\"}";
    first.answers(request -> MockWorker.json(200, json));
    try (Fixture fixture = Fixture.over(first)) {
      RouterResponse response = fixture.router().send(RouterRequest.completions(json));
      assertThat(response.body()).hasSize(json.length());
      assertThat(first.next().getBodySize()).isEqualTo(json.length());
    }
  }

  // Retries

  @ParameterizedTest
  @ValueSource(ints = {408, 429, 500, 502, 503, 504, 529})
  void retryableStatusesGoElsewhere(int status) {
    firstThen(request -> MockWorker.json(status, "{}"), request -> MockWorker.ok());
    try (Fixture fixture = Fixture.over(first, second)) {
      RouterResponse response = fixture.router().send(Fixture.chatRequest());
      assertThat(response.status()).isEqualTo(200);
      List<AttemptRecord> attempts = response.decision().attempts();
      assertThat(attempts).hasSize(2);
      assertThat(attempts.get(0).status()).isEqualTo(status);
      assertThat(attempts.get(0).worker()).isNotEqualTo(attempts.get(1).worker());
      boolean blamed = status >= 500 && status != 529;
      assertThat(fixture.breaker(attempts.get(0).worker())).isEqualTo(blamed ? "open" : "closed");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 404, 413, 421, 422})
  void clientErrorsAreAnswers(int status) {
    first.answers(request -> MockWorker.json(status, "{\"error\":\"x\"}"));
    try (Fixture fixture = Fixture.over(first)) {
      assertThat(fixture.router().send(Fixture.chatRequest()).status()).isEqualTo(status);
      assertThatThrownBy(() -> fixture.router().stream(Fixture.streamRequest()))
          .isInstanceOfSatisfying(
              RequestRejectedException.class, e -> assertThat(e.status()).isEqualTo(status));
      assertThat(requests()).isEqualTo(2);
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @Test
  void theNumberOfAttemptsIsReal() {
    first.answers(request -> MockWorker.json(500, ""));
    second.answers(request -> MockWorker.json(500, ""));
    try (Fixture fixture = Fixture.over(first, second)) {
      assertThatThrownBy(() -> fixture.router().send(Fixture.chatRequest()))
          .isInstanceOfSatisfying(
              AllAttemptsFailedException.class,
              e -> assertThat(e.attempts()).hasSize(requests()).hasSize(3));
    }
  }

  @Test
  void aStreamIsRetriedBeforeItsFirstEventOnly() {
    firstThen(
        request -> MockWorker.stream(": waiting\n\n").build(),
        request -> MockWorker.stream(EVENT).build());
    try (Fixture fixture = Fixture.over(first, second)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      assertThat(stream.decision().attempts()).hasSize(2);
      assertThat(stream.next().data()).isEqualTo(MockWorker.CHUNK);
      assertThatThrownBy(stream::next)
          .isInstanceOf(StreamInterruptedException.class)
          .hasMessageContaining("end marker");
      assertThat(requests()).isEqualTo(2);
    }
  }

  @Test
  void anErrorInPlaceOfTheFirstEventGoesElsewhere() {
    firstThen(
        request ->
            MockWorker.stream("data: {\"error\":{\"message\":\"full\",\"code\":503}}\n\n").build(),
        request -> MockWorker.wholeStream());
    try (Fixture fixture = Fixture.over(first, second)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      assertThat(drain(stream)).hasSize(2);
      assertThat(stream.decision().attempts().get(0).status()).isEqualTo(503);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"x\",\"code\":500}}",
        "{\"object\":\"error\",\"message\":\"x\",\"code\":500}",
        "{\"error\":\"x\",\"code\":\"500\"}"
      })
  void anErrorWithinAStreamEndsIt(String error) {
    first.answers(request -> MockWorker.stream(EVENT + "data: " + error + "\n\n").build());
    try (Fixture fixture = Fixture.over(first)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      stream.next();
      assertThatThrownBy(stream::next)
          .isInstanceOfSatisfying(
              StreamInterruptedException.class, e -> assertThat(e.status()).isEqualTo(500));
      assertThat(requests()).isEqualTo(1);
    }
  }

  @Test
  void wordsAboutErrorsAreNoErrors() {
    first.answers(
        request ->
            MockWorker.stream(
                    "data:"
                        + " {\"error\":null,\"choices\":[{\"delta\":{\"content\":\"\\\"error\\\"\"}}]}\n\n"
                        + "data:"
                        + " {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n"
                        + "data: [DONE]\n\n")
                .build());
    try (Fixture fixture = Fixture.over(first)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      assertThat(drain(stream)).hasSize(2);
      assertThat(stream.usage().promptTokens()).isEqualTo(5);
    }
  }

  @Test
  void typedStreamsEndWithTheirLastEvent() {
    String created = "event: response.created\ndata: {\"type\":\"response.created\"}\n\n";
    String completed = "event: response.completed\ndata: {\"type\":\"response.completed\"}\n\n";
    String json = "{\"model\":\"m\",\"stream\":true,\"input\":\"hi\"}";
    try (Fixture fixture = Fixture.over(first)) {
      first.answers(request -> MockWorker.stream(created + completed).build());
      assertThat(drain(fixture.router().stream(RouterRequest.responses(json)))).hasSize(2);
      first.answers(request -> MockWorker.stream(created).build());
      RouterStream cut = fixture.router().stream(RouterRequest.responses(json));
      assertThatThrownBy(() -> drain(cut)).isInstanceOf(StreamInterruptedException.class);
    }
  }

  @Test
  void streamsOfUnknownProtocolsEndWhereTheyEnd() {
    first.answers(request -> MockWorker.stream("data: 1\n\ndata: 2\n\n").build());
    try (Fixture fixture = Fixture.over(first)) {
      RouterRequest request = RouterRequest.builder("/v1/ticks?n=2").body("{}").build();
      assertThat(drain(fixture.router().stream(request))).containsExactly("1", "2");
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @Test
  void charactersSplitOverChunksStayWhole() {
    String text = "{\"choices\":[{\"delta\":{\"content\":\"漢字🚀é\"}}]}";
    first.answers(
        request ->
            new MockResponse.Builder()
                .setHeader("Content-Type", "text/event-stream")
                .chunkedBody("data: " + text + "\r\n\r\ndata: [DONE]\r\n\r\n", 1)
                .build());
    try (Fixture fixture = Fixture.over(first)) {
      assertThat(drain(fixture.router().stream(Fixture.streamRequest()))).containsExactly(text);
    }
  }

  // Timeouts

  private static Timeouts timeouts(Duration firstToken, Duration interToken) {
    return new Timeouts(Fixture.PATIENT.connect(), firstToken, interToken, null);
  }

  @Test
  void silenceBeforeTheHeadersIsAFirstTokenTimeout() {
    CountDownLatch open = new CountDownLatch(1);
    firstThen(request -> Bodies.held(open), request -> MockWorker.ok());
    try (Fixture fixture =
        Fixture.over(
            b -> b.timeouts(timeouts(Duration.ofMillis(300), Duration.ofMinutes(5))),
            first,
            second)) {
      RouterResponse response = fixture.router().send(Fixture.chatRequest());
      assertThat(response.decision().attempts().get(0).error()).contains("first-token deadline");
      open.countDown();
    }
  }

  @Test
  void commentsDoNotPutTheFirstTokenOff() {
    // A stream that pings without end: each ping would renew a mere read timeout.
    firstThen(
        request ->
            MockWorker.stream(": ping\n\n".repeat(5_000))
                .throttleBody(16, 20, TimeUnit.MILLISECONDS)
                .build(),
        request -> MockWorker.wholeStream());
    try (Fixture fixture =
        Fixture.over(
            b -> b.timeouts(timeouts(Duration.ofMillis(500), Duration.ofMinutes(5))),
            first,
            second)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      assertThat(stream.decision().attempts()).hasSize(2);
      assertThat(stream.decision().attempts().get(0).error()).contains("first-token deadline");
      assertThat(drain(stream)).hasSize(2);
    }
  }

  @Test
  void silenceWithinAStreamIsAnInterTokenTimeout() {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming(EVENT, open));
    try (Fixture fixture =
        Fixture.over(
            b -> b.timeouts(timeouts(Duration.ofMinutes(5), Duration.ofMillis(100))), first)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      stream.next();
      assertThatThrownBy(stream::next)
          .isInstanceOf(StreamInterruptedException.class)
          .hasMessageContaining("inter-token deadline");
      open.countDown();
    }
  }

  @Test
  void aStreamMayTakeLongerThanItsFirstTokenMay() {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(
        request ->
            MockWorker.stream(EVENT.repeat(40) + "data: [DONE]\n\n")
                .throttleBody(256, 100, TimeUnit.MILLISECONDS)
                .build());
    try (Fixture fixture =
        Fixture.over(
            b -> b.timeouts(timeouts(Duration.ofMillis(600), Duration.ofMinutes(5))), first)) {
      assertThat(drain(fixture.router().stream(Fixture.streamRequest()))).hasSize(40);
      open.countDown();
    }
  }

  @Test
  void theDeadlineCoversAllAndBlamesNobody() {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.held(open));
    try (Fixture fixture = Fixture.over(first)) {
      RouterRequest request =
          Fixture.chatRequest().toBuilder().deadline(Duration.ofMillis(300)).build();
      assertThatThrownBy(() -> fixture.router().send(request))
          .isInstanceOf(DeadlineExceededException.class);
      first.answers(r -> Bodies.streaming(EVENT, open));
      RouterStream stream =
          fixture.router().stream(
              Fixture.streamRequest().toBuilder().deadline(Duration.ofSeconds(1)).build());
      stream.next();
      assertThatThrownBy(stream::next).isInstanceOf(DeadlineExceededException.class);
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
      open.countDown();
    }
  }

  // Protocols

  @Test
  void h2cReachesWorkersThatSpeakIt() {
    try (MockWorker h2c = MockWorker.fresh()) {
      h2c.server().setProtocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE));
      h2c.start();
      OkHttpTransport transport = OkHttpTransport.builder().http2PriorKnowledge(true).build();
      assertThat(transport.schemes()).containsExactly("http");
      try (Fixture fixture = Fixture.over(transport, b -> {}, h2c)) {
        assertThat(fixture.router().send(Fixture.chatRequest()).status()).isEqualTo(200);
        h2c.answers(request -> MockWorker.wholeStreamInFrames());
        assertThat(drain(fixture.router().stream(Fixture.streamRequest()))).hasSize(2);
        assertThat(h2c.next().getVersion()).isEqualTo("HTTP/2");
      }
    }
  }

  @Test
  void tlsReachesWorkersWhoseCertificateIsTrusted() throws IOException {
    HeldCertificate certificate =
        new HeldCertificate.Builder().addSubjectAlternativeName("127.0.0.1").build();
    HandshakeCertificates server =
        new HandshakeCertificates.Builder().heldCertificate(certificate).build();
    HandshakeCertificates trusting =
        new HandshakeCertificates.Builder()
            .addTrustedCertificate(certificate.certificate())
            .build();
    try (MockWorker tls = MockWorker.fresh()) {
      tls.server().useHttps(server.sslSocketFactory());
      tls.start();
      String url = "https://127.0.0.1:" + tls.server().getPort();
      OkHttpClient client =
          new OkHttpClient.Builder()
              .sslSocketFactory(trusting.sslSocketFactory(), trusting.trustManager())
              .build();
      try (Fixture fixture =
          Fixture.over(OkHttpTransport.builder().client(client).build(), b -> {}, url)) {
        assertThat(fixture.router().send(Fixture.chatRequest()).status()).isEqualTo(200);
      }
      try (Fixture fixture = Fixture.over(url)) {
        assertThatThrownBy(() -> fixture.router().send(Fixture.chatRequest()))
            .isInstanceOfSatisfying(
                AllAttemptsFailedException.class,
                e ->
                    assertThat(e.attempts())
                        .allSatisfy(a -> assertThat(a.phase()).isEqualTo(FailurePhase.CONNECT)));
      }
    }
  }

  @Test
  void aWorkerThatRefusesConnectionsIsPassedOver() {
    String refusing = first.url();
    first.close();
    try (Fixture fixture = Fixture.over(refusing, second)) {
      for (int i = 0; i < 2; i++) {
        assertThat(fixture.router().send(Fixture.chatRequest()).status()).isEqualTo(200);
      }
      assertThat(fixture.breaker(refusing)).isEqualTo("open");
    }
  }

  // What goes out

  @Test
  void theApplicationsKeyStaysAndTheWorkersGoes() {
    WorkerSpec spec = WorkerSpec.builder(first.url()).apiKey(Secret.of("worker-key")).build();
    try (Fixture fixture = Fixture.over(spec)) {
      RouterRequest request =
          Fixture.chatRequest().toBuilder()
              .header("authorization", "Bearer application-key")
              .header("X-Own", "own")
              .header("x-warmpath-user", "u")
              .build();
      fixture.router().send(request);
      RecordedRequest seen = first.next();
      assertThat(seen.getHeaders().values("Authorization")).containsExactly("Bearer worker-key");
      assertThat(seen.getHeaders().get("X-Own")).isEqualTo("own");
      assertThat(seen.getHeaders().names()).doesNotContain("x-warmpath-user");
    }
  }

  @Test
  void redirectsAndChallengesAreAnswers() {
    OkHttpClient base =
        new OkHttpClient.Builder()
            .authenticator(
                (route, response) ->
                    response
                        .request()
                        .newBuilder()
                        .header("Authorization", "application-key")
                        .build())
            .build();
    try (Fixture fixture =
        Fixture.over(OkHttpTransport.builder().client(base).build(), b -> {}, first)) {
      RouterRequest get = RouterRequest.builder("/v1/files").method("GET").build();
      first.answers(
          request ->
              new MockResponse.Builder().code(307).setHeader("Location", second.url()).build());
      assertThat(fixture.router().send(get).status()).isEqualTo(307);
      first.answers(request -> new MockResponse.Builder().code(401).build());
      assertThat(fixture.router().send(get).status()).isEqualTo(401);
      assertThat(first.requests()).hasSize(2);
      assertThat(second.requests()).isEmpty();
    }
  }

  @Test
  void aCancelledStreamEndsOnce() {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming(EVENT, open));
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      stream.close();
      stream.close();
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.CANCELLED);
      open.countDown();
    }
  }
}
