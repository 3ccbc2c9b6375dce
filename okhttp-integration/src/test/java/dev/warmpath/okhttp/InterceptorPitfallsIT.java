package dev.warmpath.okhttp;

import static dev.warmpath.okhttp.Fixture.BODY;
import static dev.warmpath.okhttp.Fixture.JSON;
import static dev.warmpath.okhttp.Fixture.STREAM;
import static dev.warmpath.okhttp.Fixture.chat;
import static dev.warmpath.okhttp.Fixture.post;
import static dev.warmpath.okhttp.Fixture.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterListener;
import dev.warmpath.policy.RouteContext;
import dev.warmpath.policy.RouteExplanation;
import dev.warmpath.policy.RoutePlan;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import mockwebserver3.MockResponse;
import mockwebserver3.RecordedRequest;
import mockwebserver3.SocketEffect;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.EventListener;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okio.Buffer;
import okio.BufferedSink;
import okio.BufferedSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes wrong with interceptors that route, each shown not to. */
class InterceptorPitfallsIT {
  private final MockWorker first = MockWorker.started();
  private final MockWorker second = MockWorker.started();

  @AfterEach
  void stop() {
    first.close();
    second.close();
  }

  /** Answers once the given number of requests has arrived, over all workers. */
  private static MockResponse together(CountDownLatch all) {
    all.countDown();
    try {
      assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return MockWorker.ok();
  }

  // The dispatcher's limit of 5 calls per host

  @Test
  void moreThanFiveCallsToTheLogicalHostRunAtOnce() throws Exception {
    CountDownLatch all = new CountDownLatch(20);
    first.answers(request -> together(all));
    second.answers(request -> together(all));
    try (Fixture fixture = Fixture.over(first, second)) {
      OkHttpClient http = fixture.http();
      List<CompletableFuture<Integer>> calls = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        calls.add(enqueue(http.newCall(chat(BODY))));
      }
      for (CompletableFuture<Integer> call : calls) {
        assertThat(call.get(30, TimeUnit.SECONDS)).isEqualTo(200);
      }
    }
  }

  private static CompletableFuture<Integer> enqueue(Call call) {
    CompletableFuture<Integer> done = new CompletableFuture<>();
    call.enqueue(
        new Callback() {
          @Override
          public void onFailure(Call failed, IOException e) {
            done.completeExceptionally(e);
          }

          @Override
          public void onResponse(Call answered, Response response) throws IOException {
            text(response);
            done.complete(response.code());
          }
        });
    return done;
  }

  // Replays below us

  @Test
  void okHttpDoesNotReplayOnAStaleConnection() throws Exception {
    first.answers(
        request ->
            request.getExchangeIndex() > 0 ? MockWorker.closesAfterRequest() : MockWorker.ok());
    try (Fixture fixture = Fixture.over(first)) {
      OkHttpClient http = fixture.http();
      text(http.newCall(chat(BODY)).execute());
      Response response = http.newCall(chat(BODY)).execute();
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      // The replay is ours, and counted: once, on the same worker.
      assertThat(response.header("x-warmpath-attempts")).isEqualTo("2");
      assertThat(first.requests()).hasSize(3);
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @ParameterizedTest
  @CsvSource({"503,0", "408,", "421,"})
  void okHttpDoesNotReplayOnAStatus(int status, String retryAfter) throws Exception {
    first.answers(
        request -> {
          MockResponse.Builder refusal = new MockResponse.Builder().code(status);
          if (retryAfter != null) {
            refusal.setHeader("Retry-After", retryAfter);
          }
          return refusal.build();
        });
    try (Fixture fixture =
        Fixture.over(b -> b.retry(dev.warmpath.dispatch.RetrySettings.none()), first)) {
      OkHttpClient http = fixture.http();
      Call call = http.newCall(chat(BODY));
      if (status == 421) {
        assertThat(call.execute().code()).isEqualTo(421);
      } else {
        assertThatThrownBy(call::execute)
            .isInstanceOfSatisfying(
                RouterIOException.class,
                e -> {
                  assertThat(e.routerException()).isInstanceOf(AllAttemptsFailedException.class);
                  assertThat(e).hasMessageContaining(Integer.toString(status));
                });
      }
      assertThat(first.requests()).hasSize(1);
      fixture.http().connectionPool().evictAll();
    }
  }

  @Test
  void aSecondAttemptProceedsAfterTheFirstBodyIsClosed() throws Exception {
    first.answers(request -> MockWorker.json(500, "x".repeat(100_000)));
    second.answers(request -> MockWorker.json(500, "x".repeat(100_000)));
    AtomicInteger served = new AtomicInteger();
    try (Fixture fixture = Fixture.over(first, second)) {
      first.answers(
          request -> served.incrementAndGet() < 2 ? MockWorker.json(500, "no") : MockWorker.ok());
      second.answers(
          request -> served.incrementAndGet() < 2 ? MockWorker.json(500, "no") : MockWorker.ok());
      Response response = fixture.http().newCall(chat(BODY)).execute();
      assertThat(response.header("x-warmpath-attempts")).isEqualTo("2");
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      assertThat(first.requests().size() + second.requests().size()).isEqualTo(2);
    }
  }

  // Leases

  @Test
  void exhaustionReleasesTheLease() throws Exception {
    first.answers(request -> MockWorker.wholeStream());
    try (Fixture fixture = Fixture.over(first)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      assertThat(fixture.counted()).isEqualTo(2);
      assertThat(response.body().string()).endsWith("data: [DONE]\n\n");
      assertThat(fixture.counted()).isZero();
      response.close();
      assertThat(fixture.counted()).isZero();
    }
  }

  @Test
  void theEndMarkerReleasesTheLeaseBeforeTheBytesEnd() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(
        request -> Bodies.streaming("data: " + MockWorker.CHUNK + "\n\ndata: [DONE]\n\n", open));
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      BufferedSource source = response.body().source();
      while (!source.readUtf8LineStrict().equals("data: [DONE]")) {
        // reads as an application does: to the marker
      }
      source.readUtf8LineStrict();
      assertThat(fixture.counted()).isZero();
      open.countDown();
      response.close();
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.COMPLETED);
    }
  }

  @Test
  void closingAStreamReleasesTheLeaseAndIsACancellation() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming("data: " + MockWorker.CHUNK + "\n\n", open));
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      response.body().source().readUtf8LineStrict();
      response.close();
      response.close();
      assertThat(fixture.counted()).isZero();
      open.countDown();
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.CANCELLED);
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @Test
  void aBrokenStreamReleasesTheLeaseAndIsAFailure() throws Exception {
    first.answers(
        request ->
            MockWorker.stream(("data: " + MockWorker.CHUNK + "\n\n").repeat(2_000))
                .onResponseBody(new SocketEffect.CloseSocket())
                .build());
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      assertThatThrownBy(() -> response.body().string()).isInstanceOf(IOException.class);
      assertThat(fixture.counted()).isZero();
      response.close();
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.FAILED);
      assertThat(fixture.breaker(first.url())).isEqualTo("open");
      assertThat(first.requests()).hasSize(1);
    }
  }

  @Test
  void aStreamCutShortOfItsMarkerCountsAgainstTheWorker() throws Exception {
    first.answers(request -> MockWorker.stream("data: " + MockWorker.CHUNK + "\n\n").build());
    try (Fixture fixture = Fixture.over(first)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      assertThat(text(response)).isEqualTo("data: " + MockWorker.CHUNK + "\n\n");
      assertThat(fixture.breaker(first.url())).isEqualTo("open");
    }
  }

  @Test
  void aStreamOfAnotherProtocolEndsWhereItEnds() throws Exception {
    first.answers(request -> MockWorker.stream("event: tick\ndata: 1\n\n").build());
    try (Fixture fixture = Fixture.over(first)) {
      text(fixture.http().newCall(post("/v1/anything", RequestBody.create("{}", JSON))).execute());
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @Test
  void aWholeResponseReadShortOfItsEndIsComplete() throws Exception {
    first.answers(
        request ->
            new MockResponse.Builder()
                .setHeader("Content-Type", "application/json")
                .chunkedBody(MockWorker.WHOLE + " ".repeat(50_000), 64)
                .build());
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first)) {
      Response response = fixture.http().newCall(chat(BODY)).execute();
      response.body().source().readUtf8(MockWorker.WHOLE.length());
      response.close();
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.COMPLETED);
    }
  }

  @Test
  void anEmptyResponseReleasesTheLeaseUnread() throws Exception {
    first.answers(request -> new MockResponse.Builder().code(204).build());
    try (Fixture fixture = Fixture.over(first)) {
      Response response = fixture.http().newCall(chat(BODY)).execute();
      assertThat(fixture.counted()).isZero();
      response.close();
    }
  }

  @Test
  void aCallerMayKeepTheBytesAlone() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(
        request ->
            Bodies.streaming("data: " + MockWorker.CHUNK + "\n\n", open, "data: [DONE]\n\n"));
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first)) {
      InputStream bytes = bytesOf(fixture.http().newCall(chat(STREAM)));
      for (int i = 0; i < 3; i++) {
        System.gc();
      }
      assertThat(fixture.counted()).isEqualTo(2);
      open.countDown();
      assertThat(new String(bytes.readAllBytes(), StandardCharsets.UTF_8)).endsWith("[DONE]\n\n");
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.COMPLETED);
    }
  }

  private static InputStream bytesOf(Call call) throws IOException {
    return call.execute().body().byteStream();
  }

  @Test
  void aResponseThatIsDroppedUnclosedReleasesItsLeaseWhenCollected() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming("data: " + MockWorker.CHUNK + "\n\n", open));
    try (Fixture fixture = Fixture.over(first)) {
      fixture.http().newCall(chat(STREAM)).execute().code();
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                System.gc();
                return fixture.counted() == 0;
              });
      open.countDown();
    }
  }

  // Bodies

  @Test
  void aOneShotBodyIsReadOnceAndReplayedFromMemory() throws Exception {
    failFirst(new AtomicInteger());
    try (Fixture fixture = Fixture.over(first, second)) {
      Bodies.Once body = new Bodies.Once(BODY, true);
      Response response = fixture.http().newCall(post("/v1/chat/completions", body)).execute();
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      assertThat(body.written()).isEqualTo(1);
      assertThat(bodies()).containsExactly(BODY, BODY);
    }
  }

  private void failFirst(AtomicInteger served) {
    first.answers(r -> served.incrementAndGet() == 1 ? MockWorker.json(500, "") : MockWorker.ok());
    second.answers(r -> served.incrementAndGet() == 1 ? MockWorker.json(500, "") : MockWorker.ok());
  }

  private List<String> bodies() {
    List<String> bodies = new ArrayList<>();
    for (MockWorker worker : List.of(first, second)) {
      for (RecordedRequest request : worker.requests()) {
        bodies.add(request.getBody() == null ? "" : request.getBody().utf8());
      }
    }
    return bodies;
  }

  @Test
  void aLargeBodyIsStreamedToEveryAttempt() throws Exception {
    failFirst(new AtomicInteger());
    try (Fixture fixture = Fixture.over(first, second)) {
      String json = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(8 << 20) + "\"}";
      Response response =
          fixture
              .http(b -> b.maxBodyBytes(1 << 20), c -> {})
              .newCall(post("/v1/completions", RequestBody.create(json, JSON)))
              .execute();
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      assertThat(bodies()).containsExactly(json, json);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8 << 20, 48 << 20})
  void aLargeBodyIsNoObstacle(int size) throws Exception {
    try (Fixture fixture = Fixture.over(first)) {
      String json = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(size) + "\"}";
      Response response =
          fixture.http().newCall(post("/v1/completions", RequestBody.create(json, JSON))).execute();
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      assertThat(first.next().getBodySize()).isEqualTo(json.length());
    }
  }

  @Test
  void aLargeOneShotBodyIsSentOnceOnly() throws Exception {
    failFirst(new AtomicInteger());
    try (Fixture fixture = Fixture.over(first, second)) {
      Bodies.Once body = new Bodies.Once(BODY, true);
      OkHttpClient http = fixture.http(b -> b.maxBodyBytes(4), c -> {});
      assertThatThrownBy(http.newCall(post("/v1/chat/completions", body))::execute)
          .isInstanceOfSatisfying(
              RouterIOException.class,
              e ->
                  assertThat(((AllAttemptsFailedException) e.routerException()).attempts())
                      .singleElement()
                      .satisfies(attempt -> assertThat(attempt.status()).isEqualTo(500)));
      assertThat(body.written()).isEqualTo(1);
      assertThat(bodies()).containsExactly(BODY);
    }
  }

  @Test
  void aLargeOneShotBodyThatWasNotWrittenYetGoesElsewhere() throws Exception {
    String refused = "http://127.0.0.1:" + first.server().getPort();
    first.close();
    try (Fixture fixture = Fixture.over(refused, second)) {
      OkHttpClient http = fixture.http(b -> b.maxBodyBytes(4), c -> {});
      for (int i = 0; i < 2; i++) {
        Bodies.Once body = new Bodies.Once(BODY, true);
        assertThat(text(http.newCall(post("/v1/chat/completions", body)).execute()))
            .isEqualTo(MockWorker.WHOLE);
        assertThat(body.written()).isEqualTo(1);
      }
    }
  }

  @Test
  void aBodyOfUnknownLengthIsReadWhereItFits() throws Exception {
    failFirst(new AtomicInteger());
    try (Fixture fixture = Fixture.over(first, second)) {
      Bodies.Once fits = new Bodies.Once(BODY, false, -1);
      Response response = fixture.http().newCall(post("/v1/chat/completions", fits)).execute();
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      assertThat(fits.written()).isEqualTo(1);
      Bodies.Once large = new Bodies.Once(BODY, false, -1);
      OkHttpClient http = fixture.http(b -> b.maxBodyBytes(4), c -> {});
      assertThat(text(http.newCall(post("/v1/chat/completions", large)).execute()))
          .isEqualTo(MockWorker.WHOLE);
      assertThat(bodies()).containsOnly(BODY);
    }
  }

  @Test
  void aOneShotBodyOfUnknownLengthIsStreamed() throws Exception {
    try (Fixture fixture = Fixture.over(first)) {
      Bodies.Once body = new Bodies.Once(BODY, true, -1);
      assertThat(text(fixture.http().newCall(post("/v1/chat/completions", body)).execute()))
          .isEqualTo(MockWorker.WHOLE);
      assertThat(body.written()).isEqualTo(1);
      assertThat(first.next().getBody().utf8()).isEqualTo(BODY);
    }
  }

  @Test
  void anEncodedBodyPassesAsItIs() throws Exception {
    try (Fixture fixture = Fixture.over(first)) {
      Buffer zipped = new Buffer();
      try (BufferedSink sink = okio.Okio.buffer(new okio.GzipSink(zipped))) {
        sink.writeUtf8(BODY);
      }
      okio.ByteString bytes = zipped.readByteString();
      Request request =
          chat(BODY)
              .newBuilder()
              .post(RequestBody.create(bytes, JSON))
              .header("Content-Encoding", "gzip")
              .build();
      assertThat(text(fixture.http().newCall(request).execute())).isEqualTo(MockWorker.WHOLE);
      RecordedRequest seen = first.next();
      assertThat(seen.getBody()).isEqualTo(bytes);
      assertThat(seen.getHeaders().get("Content-Encoding")).isEqualTo("gzip");
    }
  }

  @Test
  void aDuplexBodyIsStreamed() throws Exception {
    try (MockWorker h2c = MockWorker.fresh()) {
      h2c.server().setProtocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE));
      h2c.start();
      try (Fixture fixture = Fixture.over(h2c)) {
        OkHttpClient http =
            fixture.http(b -> {}, c -> c.protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE)));
        Bodies.Duplex body = new Bodies.Duplex();
        Call call = http.newCall(post("/v1/chat/completions", body));
        CompletableFuture<Integer> done = enqueue(call);
        try (BufferedSink sink = body.sink()) {
          sink.writeUtf8(BODY);
        }
        assertThat(done.get(30, TimeUnit.SECONDS)).isEqualTo(200);
        assertThat(h2c.next().getBody().utf8()).isEqualTo(BODY);
      }
    }
  }

  // Cancellation

  @Test
  void aCallCancelledBeforeTheHeadersBlamesNobody() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.held(open));
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first, second)) {
      second.answers(request -> Bodies.held(open));
      Call call = fixture.http().newCall(chat(BODY));
      CompletableFuture<Integer> done = enqueue(call);
      await().atMost(Duration.ofMinutes(1)).until(() -> bodies().size() == 1);
      call.cancel();
      assertThatThrownBy(() -> done.get(60, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOfSatisfying(
              RouterIOException.class,
              e -> assertThat(e.routerException()).isInstanceOf(RequestCancelledException.class));
      fixture.assertIdle();
      assertThat(bodies()).hasSize(1);
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.CANCELLED);
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
      assertThat(fixture.breaker(second.url())).isEqualTo("closed");
      open.countDown();
    }
  }

  @Test
  void aCallCancelledWithinTheBodyBlamesNobody() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming("data: " + MockWorker.CHUNK + "\n\n", open));
    Outcomes outcomes = new Outcomes();
    try (Fixture fixture = Fixture.over(b -> b.listener(outcomes), first)) {
      Call call = fixture.http().newCall(chat(STREAM));
      Response response = call.execute();
      response.body().source().readUtf8LineStrict();
      call.cancel();
      assertThatThrownBy(() -> response.body().string()).isInstanceOf(IOException.class);
      response.close();
      fixture.assertIdle();
      assertThat(outcomes.of()).containsExactly(RouterListener.Outcome.CANCELLED);
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
      open.countDown();
    }
  }

  @Test
  void aClosedRouterEndsRoutedCalls() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.held(open));
    try (Fixture fixture = Fixture.over(first)) {
      CompletableFuture<Integer> done = enqueue(fixture.http().newCall(chat(BODY)));
      first.next();
      fixture.router().close();
      assertThatThrownBy(() -> done.get(60, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(RouterIOException.class);
      open.countDown();
      assertThatThrownBy(fixture.http().newCall(chat(BODY))::execute)
          .isInstanceOf(RouterIOException.class)
          .hasMessage("the router client is closed");
    }
  }

  @Test
  void anInterruptedThreadSendsNothingAndBlamesNobody() {
    try (Fixture fixture = Fixture.over(first)) {
      Call call = fixture.http().newCall(chat(BODY));
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                Thread.currentThread().interrupt();
                try {
                  text(call.execute());
                  thrown.complete(null);
                } catch (Throwable e) {
                  thrown.complete(e);
                }
              });
      caller.start();
      assertThat(thrown.orTimeout(20, TimeUnit.SECONDS).join())
          .isInstanceOfSatisfying(
              RouterIOException.class,
              e -> assertThat(e.routerException()).isInstanceOf(RequestCancelledException.class));
      fixture.assertIdle();
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  // Timeouts

  @Test
  void theReadTimeoutOfTheClientDoesNotCutAPrefillShort() throws Exception {
    first.answers(
        request ->
            new MockResponse.Builder(MockWorker.ok())
                .headersDelay(50, TimeUnit.MILLISECONDS)
                .build());
    try (Fixture fixture = Fixture.over(first)) {
      OkHttpClient http = fixture.http(b -> {}, c -> c.readTimeout(Duration.ofMillis(1)));
      assertThat(text(http.newCall(chat(BODY)).execute())).isEqualTo(MockWorker.WHOLE);
    }
  }

  @Test
  void silenceBeforeTheHeadersGoesElsewhere() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    AtomicInteger served = new AtomicInteger();
    first.answers(r -> served.incrementAndGet() == 1 ? Bodies.held(open) : MockWorker.ok());
    second.answers(r -> served.incrementAndGet() == 1 ? Bodies.held(open) : MockWorker.ok());
    try (Fixture fixture =
        Fixture.over(b -> b.timeouts(firstToken(Duration.ofMillis(300))), first, second)) {
      Response response = fixture.http().newCall(chat(BODY)).execute();
      assertThat(response.header("x-warmpath-attempts")).isEqualTo("2");
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      open.countDown();
    }
  }

  private static Timeouts firstToken(Duration firstToken) {
    return new Timeouts(Fixture.PATIENT.connect(), firstToken, Fixture.PATIENT.interToken(), null);
  }

  @Test
  void silenceWithinAStreamEndsIt() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming("data: " + MockWorker.CHUNK + "\n\n", open));
    Timeouts timeouts =
        new Timeouts(
            Fixture.PATIENT.connect(), Duration.ofMinutes(5), Duration.ofMillis(100), null);
    try (Fixture fixture = Fixture.over(b -> b.timeouts(timeouts), first)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      assertThatThrownBy(() -> response.body().string()).isInstanceOf(IOException.class);
      response.close();
      assertThat(fixture.breaker(first.url())).isEqualTo("open");
      open.countDown();
    }
  }

  @Test
  void theDeadlineEndsTheWaitForHeadersAndBlamesNobody() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.held(open));
    try (Fixture fixture = Fixture.over(first)) {
      Request request = chat(BODY).newBuilder().header("x-warmpath-deadline-ms", "300").build();
      assertThatThrownBy(fixture.http().newCall(request)::execute)
          .isInstanceOfSatisfying(
              RouterIOException.class,
              e -> assertThat(e.routerException()).isInstanceOf(DeadlineExceededException.class));
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
      open.countDown();
    }
  }

  @Test
  void theDeadlineEndsAStreamAndBlamesNobody() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    first.answers(request -> Bodies.streaming("data: " + MockWorker.CHUNK + "\n\n", open));
    try (Fixture fixture = Fixture.over(first)) {
      Request request = chat(STREAM).newBuilder().header("x-warmpath-deadline-ms", "1000").build();
      Response response = fixture.http().newCall(request).execute();
      assertThatThrownBy(() -> response.body().string()).isInstanceOf(IOException.class);
      response.close();
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
      open.countDown();
    }
  }

  // Protocols and pools

  @Test
  void h2cWorksOverTheRewrite() throws Exception {
    try (MockWorker h2c = MockWorker.fresh()) {
      h2c.server().setProtocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE));
      h2c.start().answers(request -> MockWorker.wholeStreamInFrames());
      try (Fixture fixture = Fixture.over(h2c)) {
        OkHttpClient http =
            fixture.http(b -> {}, c -> c.protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE)));
        Response response = http.newCall(chat(STREAM)).execute();
        assertThat(response.protocol()).isEqualTo(Protocol.H2_PRIOR_KNOWLEDGE);
        assertThat(text(response)).contains("[DONE]");
      }
    }
  }

  @Test
  void aTunedPoolKeepsAConnectionForEachWorkerOfALargeFleet() throws Exception {
    List<MockWorker> fleet = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      fleet.add(MockWorker.started());
    }
    try (Fixture fixture = Fixture.over(fleet.toArray())) {
      OkHttpClient http = fixture.http();
      for (int i = 0; i < 8; i++) {
        text(http.newCall(chat(BODY)).execute());
      }
      assertThat(http.connectionPool().connectionCount()).isEqualTo(8);
    } finally {
      fleet.forEach(MockWorker::close);
    }
  }

  // What goes out

  @Test
  void theApplicationsKeyStaysAndTheWorkersGoes() throws Exception {
    WorkerSpec spec = WorkerSpec.builder(first.url()).apiKey(Secret.of("worker-key")).build();
    try (Fixture fixture = Fixture.over(spec)) {
      Request request =
          chat(BODY)
              .newBuilder()
              .header("Authorization", "Bearer application-key")
              .header("x-api-key", "application-key")
              .header("Cookie", "a=b")
              .header("X-Own", "own")
              .header("traceparent", "00-1")
              .header("x-warmpath-session", "s")
              .build();
      text(fixture.http().newCall(request).execute());
      RecordedRequest seen = first.next();
      assertThat(seen.getHeaders().values("Authorization")).containsExactly("Bearer worker-key");
      assertThat(seen.getHeaders().toString()).doesNotContain("application-key");
      assertThat(seen.getHeaders().names()).doesNotContain("Cookie", "X-Own", "x-warmpath-session");
      assertThat(seen.getHeaders().get("traceparent")).isEqualTo("00-1");
      assertThat(seen.getHeaders().get("Host")).isEqualTo("127.0.0.1:" + first.server().getPort());
    }
  }

  @Test
  void headersOnTheListAreForwarded() throws Exception {
    WorkerSpec spec = WorkerSpec.builder(first.url()).apiKey(Secret.of("worker-key")).build();
    try (Fixture fixture = Fixture.over(spec)) {
      OkHttpClient http =
          fixture.http(b -> b.forwardHeader("Authorization").forwardHeader("X-Own"), c -> {});
      text(
          http.newCall(
                  chat(BODY)
                      .newBuilder()
                      .header("authorization", "Bearer application-key")
                      .addHeader("x-own", "1")
                      .addHeader("X-Own", "2")
                      .build())
              .execute());
      RecordedRequest seen = first.next();
      assertThat(seen.getHeaders().values("Authorization"))
          .containsExactly("Bearer application-key");
      assertThat(seen.getHeaders().values("X-Own")).containsExactly("1", "2");
      assertThatThrownBy(() -> RoutingInterceptor.builder(fixture.router()).forwardHeader("Host"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Host");
    }
  }

  @Test
  void redirectsAreNotFollowed() throws Exception {
    first.answers(
        request ->
            new MockResponse.Builder()
                .code(302)
                .setHeader("Location", second.url() + "/elsewhere")
                .build());
    try (Fixture fixture = Fixture.over(first)) {
      Response response = fixture.http().newCall(chat(BODY)).execute();
      assertThat(response.code()).isEqualTo(302);
      response.close();
      assertThat(second.requests()).isEmpty();
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @Test
  void callsToOtherHostsPassBy() throws Exception {
    try (Fixture fixture = Fixture.over(first)) {
      Request request =
          new Request.Builder()
              .url(second.url() + "/x")
              .header("Authorization", "Bearer application-key")
              .build();
      Response response = fixture.http().newCall(request).execute();
      assertThat(text(response)).isEqualTo(MockWorker.WHOLE);
      assertThat(response.headers().names()).noneMatch(name -> name.startsWith("x-warmpath"));
      assertThat(second.next().getHeaders().get("Authorization"))
          .isEqualTo("Bearer application-key");
      assertThat(first.requests()).isEmpty();
    }
  }

  // What comes back

  @Test
  void theResponseBelongsToTheOriginalRequestAndTellsTheDecision() throws Exception {
    try (Fixture fixture = Fixture.over(first)) {
      Response response = fixture.http().newCall(chat(BODY)).execute();
      assertThat(response.request().url())
          .hasToString("http://warmpath.invalid/v1/chat/completions");
      assertThat(response.priorResponse()).isNull();
      assertThat(response.header("x-warmpath-worker")).isEqualTo(first.url());
      assertThat(response.header("x-warmpath-policy")).isEqualTo("round_robin");
      assertThat(response.header("x-warmpath-attempts")).isEqualTo("1");
      assertThat(response.header("x-warmpath-matched-tokens")).isEqualTo("0");
      assertThat(response.header("x-warmpath-block-hashes")).isEqualTo("0");
      RouteDecision decision = response.request().tag(RouteDecision.class);
      assertThat(decision.attempts()).hasSize(1);
      assertThat(decision.policy()).isEqualTo("round_robin");
      text(response);
    }
  }

  @Test
  void aClientErrorOfTheWorkersIsAResponse() throws Exception {
    first.answers(request -> MockWorker.json(400, "{\"error\":{\"message\":\"too long\"}}"));
    try (Fixture fixture = Fixture.over(first)) {
      Response response = fixture.http().newCall(chat(BODY)).execute();
      assertThat(response.code()).isEqualTo(400);
      assertThat(text(response)).contains("too long");
      assertThat(fixture.breaker(first.url())).isEqualTo("closed");
    }
  }

  @Test
  void whatAPolicyThrowsReachesTheCallback() {
    RoutingPolicy broken =
        new RoutingPolicy() {
          @Override
          public String name() {
            return "broken";
          }

          @Override
          public RoutePlan plan(RouteContext context) {
            throw new IllegalStateException("a bug");
          }

          @Override
          public RouteExplanation explain(RouteContext context) {
            throw new IllegalStateException("a bug");
          }
        };
    try (Fixture fixture = Fixture.over(b -> b.policy(broken), first)) {
      CompletableFuture<Integer> done = enqueue(fixture.http().newCall(chat(BODY)));
      assertThatThrownBy(() -> done.get(60, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(IOException.class)
          .hasRootCauseInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void failuresMayBeResponses() throws Exception {
    first.answers(request -> MockWorker.json(500, ""));
    try (Fixture fixture = Fixture.over(first)) {
      OkHttpClient http = fixture.http(b -> b.failuresAsResponses(true), c -> {});
      Response failed = http.newCall(chat(BODY)).execute();
      assertThat(failed.code()).isEqualTo(503);
      assertThat(failed.header("Retry-After")).isEqualTo("1");
      assertThat(text(failed)).contains("\"type\":\"AllAttemptsFailedException\",\"code\":503");
      Response invalid = http.newCall(chat("{\"model\":")).execute();
      assertThat(invalid.code()).isEqualTo(400);
      assertThat(invalid.header("Retry-After")).isNull();
      assertThat(text(invalid)).contains("not valid JSON");
      Response cancelled = null;
      Call call = http.newCall(chat(BODY));
      call.cancel();
      try {
        cancelled = call.execute();
      } catch (IOException expected) {
        assertThat(call.isCanceled()).isTrue();
      }
      assertThat(cancelled).isNull();
    }
  }

  @Test
  void theEventListenerSeesOneCallAndEveryAttempt() throws Exception {
    failFirst(new AtomicInteger());
    AtomicInteger starts = new AtomicInteger();
    AtomicInteger connections = new AtomicInteger();
    AtomicInteger ends = new AtomicInteger();
    EventListener listener =
        new EventListener() {
          @Override
          public void callStart(Call call) {
            starts.incrementAndGet();
          }

          @Override
          public void connectionAcquired(Call call, okhttp3.Connection connection) {
            connections.incrementAndGet();
          }

          @Override
          public void callEnd(Call call) {
            ends.incrementAndGet();
          }
        };
    try (Fixture fixture = Fixture.over(first, second)) {
      OkHttpClient http = fixture.http(b -> {}, c -> c.eventListener(listener));
      text(http.newCall(chat(BODY)).execute());
      assertThat(List.of(starts.get(), connections.get(), ends.get())).containsExactly(1, 2, 1);
    }
  }
}
