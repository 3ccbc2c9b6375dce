package dev.warmpath.okhttp;

import static dev.warmpath.okhttp.Fixture.STREAM;
import static dev.warmpath.okhttp.Fixture.chat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerSpec;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import okhttp3.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * SGLang 0.5.18 and 0.5.19 go on computing when a connection drops, and know an abort that comes
 * later no more: the abort goes first, whichever way the request ends.
 */
class AbortIT {
  private static final String CHAT = "/v1/chat/completions";
  private static final String EVENT = "data: " + MockWorker.CHUNK + "\n\n";

  /** Never gets further than the first event; answers aborts. */
  private final RawWorker worker =
      new RawWorker(
          (path, number) ->
              path.equals("/abort_request") ? RawWorker.json(200, "") : RawWorker.stream(EVENT));

  /** Never answers but aborts. */
  private final RawWorker silent =
      new RawWorker(
          (path, number) -> path.equals("/abort_request") ? RawWorker.json(200, "") : null);

  @AfterEach
  void stop() {
    worker.close();
    silent.close();
  }

  private static WorkerSpec spec(RawWorker worker, EngineKind engine) {
    return WorkerSpec.builder(worker.url())
        .engine(engine)
        .apiKey(Secret.of("key"))
        .adminKey(Secret.of("admin-key"))
        .build();
  }

  private static Fixture over(RawWorker worker, EngineKind engine) {
    return Fixture.over(spec(worker, engine));
  }

  @Test
  void closingAStreamAbortsBeforeTheConnectionDrops() {
    try (Fixture fixture = over(worker, EngineKind.SGLANG)) {
      RouterStream stream = fixture.router().stream(Fixture.streamRequest());
      stream.close();
      fixture.assertIdle();
      assertThat(worker.next()).isEqualTo("request " + CHAT);
      assertThat(worker.next()).isEqualTo("request /abort_request");
      assertThat(worker.next()).isEqualTo("drop " + CHAT);
    }
    assertThat(worker.heads().get(1)).contains("Authorization: Bearer admin-key");
  }

  @Test
  void cancellingWhileWaitingForTheFirstTokenAbortsAtOnce() {
    try (Fixture fixture = over(silent, EngineKind.SGLANG)) {
      CompletableFuture<RouterResponse> future = fixture.router().sendAsync(Fixture.chatRequest());
      assertThat(silent.next()).isEqualTo("request " + CHAT);
      future.cancel(true);
      assertThat(silent.next()).isEqualTo("request /abort_request");
      assertThat(silent.next()).isEqualTo("drop " + CHAT);
      assertThatThrownBy(future::join).isInstanceOf(CancellationException.class);
      fixture.assertIdle();
      assertThat(fixture.breaker(silent.url())).isEqualTo("closed");
    }
  }

  @Test
  void closingTheClientAborts() {
    try (Fixture fixture = over(silent, EngineKind.SGLANG)) {
      CompletableFuture<RouterResponse> future = fixture.router().sendAsync(Fixture.chatRequest());
      assertThat(silent.next()).isEqualTo("request " + CHAT);
      fixture.router().close();
      assertThat(silent.next()).isEqualTo("request /abort_request");
      assertThat(List.of(silent.next(), silent.next()))
          .containsExactlyInAnyOrder("drop " + CHAT, "drop /abort_request");
      assertThatThrownBy(future::join).hasCauseInstanceOf(RequestCancelledException.class);
    }
  }

  @Test
  void closingAnInterceptedStreamAbortsBeforeTheConnectionDrops() throws Exception {
    try (Fixture fixture = over(worker, EngineKind.SGLANG)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      response.body().source().readUtf8LineStrict();
      response.close();
      assertThat(fixture.counted()).isZero();
      assertThat(worker.next()).isEqualTo("request " + CHAT);
      assertThat(worker.next()).isEqualTo("request /abort_request");
      assertThat(worker.next()).isEqualTo("drop " + CHAT);
    }
    assertThat(worker.heads().get(1)).contains("Authorization: Bearer admin-key");
  }

  @Test
  void anInterceptedCallAfterItsRouterIsClosedEndsWithoutItsAbort() throws Exception {
    try (Fixture fixture = over(worker, EngineKind.SGLANG)) {
      Response response = fixture.http().newCall(chat(STREAM)).execute();
      fixture.router().close();
      response.close();
      assertThat(worker.next()).isEqualTo("request " + CHAT);
      assertAnyDrop();
    }
  }

  private void assertAnyDrop() {
    String next = worker.next();
    while (!next.equals("drop " + CHAT)) {
      next = worker.next();
    }
  }

  @Test
  void aWorkerThatDoesNotAnswerTheAbortIsDroppedAllTheSame() {
    try (RawWorker deaf = new RawWorker((path, number) -> null);
        Fixture fixture = over(deaf, EngineKind.SGLANG)) {
      CompletableFuture<RouterResponse> future = fixture.router().sendAsync(Fixture.chatRequest());
      assertThat(deaf.next()).isEqualTo("request " + CHAT);
      future.cancel(true);
      assertThat(deaf.next()).isEqualTo("request /abort_request");
      assertThat(List.of(deaf.next(), deaf.next()))
          .containsExactlyInAnyOrder("drop " + CHAT, "drop /abort_request");
    }
  }

  @Test
  void theAbortNamesTheRequest() {
    try (MockWorker mock = MockWorker.started()) {
      java.util.concurrent.CountDownLatch open = new java.util.concurrent.CountDownLatch(1);
      mock.answers(
          request ->
              request.getTarget().equals("/abort_request")
                  ? MockWorker.json(200, "")
                  : Bodies.streaming(EVENT, open));
      try (Fixture fixture = Fixture.over(mock.url() + ";engine=sglang")) {
        fixture.router().stream(Fixture.streamRequest()).close();
        String sent = mock.next().getBody().utf8();
        String abort = mock.next().getBody().utf8();
        String rid = abort.replaceAll("\\{\"rid\":\"(.*)\"}", "$1");
        assertThat(rid).hasSize(32);
        assertThat(sent).startsWith("{\"rid\":\"" + rid + "\"");
        open.countDown();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"VLLM", "ATOM", "UNKNOWN"})
  void otherEnginesNoticeTheDrop(EngineKind engine) {
    try (Fixture fixture = over(silent, engine)) {
      CompletableFuture<RouterResponse> future = fixture.router().sendAsync(Fixture.chatRequest());
      assertThat(silent.next()).isEqualTo("request " + CHAT);
      future.cancel(true);
      assertThat(silent.next()).isEqualTo("drop " + CHAT);
      fixture.assertIdle();
      assertThat(fixture.breaker(silent.url())).isEqualTo("closed");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anInterceptedCallThatIsCancelledIsNoticedAtOnce(boolean sglang) {
    try (Fixture fixture = over(silent, sglang ? EngineKind.SGLANG : EngineKind.VLLM)) {
      okhttp3.Call call = fixture.http().newCall(chat(STREAM));
      CompletableFuture<Void> run =
          CompletableFuture.runAsync(
              () -> assertThatThrownBy(call::execute).isInstanceOf(RouterIOException.class));
      assertThat(silent.next()).isEqualTo("request " + CHAT);
      call.cancel();
      assertThat(silent.next()).isEqualTo("drop " + CHAT);
      run.join();
      fixture.assertIdle();
      assertThat(fixture.breaker(silent.url())).isEqualTo("closed");
    }
  }
}
