package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.RouterTracer;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.observe.OpenTelemetryTracer;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.Secret;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests as spans of OpenTelemetry. */
class TracingTest {
  private static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a secret prompt\"}]}";
  private static final RouterRequest CHAT = RouterRequest.chatCompletions(BODY);
  private static final String ANSWER =
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":4}}}";

  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
  private final SdkTracerProvider provider =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build();
  private final OpenTelemetry telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(provider)
          .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
          .build();

  @AfterEach
  void close() {
    provider.close();
  }

  private RouterClient.Builder builder(ScriptedTransport transport) {
    return RouterClient.builder()
        .transport(transport)
        .policy(Policies.roundRobin())
        .retry(new RetrySettings(3, 0.2, 100, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1)))
        .noWorkerWait(Duration.ZERO)
        .apiKey(Secret.of("a secret key"))
        .tracer(OpenTelemetryTracer.of(telemetry))
        .seed(1);
  }

  private RouterClient client(ScriptedTransport transport) {
    RouterClient client =
        builder(transport)
            .worker("http://w0:1;engine=vllm;model=m")
            .worker("http://w1:1;engine=vllm;model=m")
            .build();
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    return client;
  }

  private static Function<OutboundRequest, Script> inTurn(Script... scripts) {
    AtomicInteger turn = new AtomicInteger();
    return request -> scripts[Math.min(scripts.length - 1, turn.getAndIncrement())];
  }

  /** The spans, once there are so many. */
  private List<SpanData> spans(int count) {
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(exporter.getFinishedSpanItems()).hasSize(count));
    return exporter.getFinishedSpanItems();
  }

  private static SpanData only(List<SpanData> spans, String name) {
    List<SpanData> named = spans.stream().filter(span -> span.getName().equals(name)).toList();
    assertThat(named).as(name).hasSize(1);
    return named.get(0);
  }

  private static Object attribute(SpanData span, String name) {
    Object[] found = new Object[1];
    span.getAttributes()
        .forEach(
            (key, value) -> {
              if (key.getKey().equals(name)) {
                found[0] = value;
              }
            });
    return found[0];
  }

  private static String traceparent(SpanData span) {
    return "00-"
        + span.getTraceId()
        + "-"
        + span.getSpanId()
        + "-"
        + span.getSpanContext().getTraceFlags().asHex();
  }

  @Test
  void aRequestIsASpanWithAChildForEachAttempt() {
    ScriptedTransport transport =
        new ScriptedTransport(inTurn(Script.status(503), Script.ok(ANSWER)));
    try (RouterClient client = client(transport)) {
      Span parent = telemetry.getTracer("test").spanBuilder("application").startSpan();
      try (Scope scope = parent.makeCurrent()) {
        assertThat(scope).isNotNull();
        client.send(CHAT);
      }
      parent.end();

      List<SpanData> spans = spans(4);
      SpanData request = only(spans, "chat m");
      assertThat(request.getParentSpanId()).isEqualTo(parent.getSpanContext().getSpanId());
      assertThat(request.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
      assertThat(request.getEvents().stream().map(EventData::getName))
          .containsExactly("warmpath.decision", "warmpath.first_token");
      assertThat(attribute(request, "gen_ai.operation.name")).isEqualTo("chat");
      assertThat(attribute(request, "gen_ai.usage.input_tokens")).isEqualTo(5L);
      assertThat(attribute(request, "gen_ai.usage.output_tokens")).isEqualTo(2L);
      assertThat(attribute(request, "gen_ai.usage.cache_read.input_tokens")).isEqualTo(4L);
      assertThat(attribute(request, "warmpath.outcome")).isEqualTo("completed");
      assertThat(attribute(request, "warmpath.attempts")).isEqualTo(2L);

      List<SpanData> attempts =
          spans.stream().filter(span -> span.getName().equals("attempt")).toList();
      assertThat(attempts).hasSize(2);
      assertThat(attempts.stream().map(SpanData::getParentSpanId))
          .containsOnly(request.getSpanId());
      assertThat(attempts.get(0).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
      assertThat(attribute(attempts.get(0), "http.response.status_code")).isEqualTo(503L);
      assertThat(attribute(attempts.get(1), "http.response.status_code")).isEqualTo(200L);
      assertThat(attribute(attempts.get(1), "server.port")).isEqualTo(1L);
      assertThat(transport.sent.stream().map(sent -> sent.headers().get("traceparent")))
          .containsExactly(traceparent(attempts.get(0)), traceparent(attempts.get(1)));
    }
  }

  @Test
  void theApplicationsContextIsTakenToOtherThreads() {
    try (RouterClient client = client(new ScriptedTransport(request -> Script.ok(ANSWER)))) {
      Span parent = telemetry.getTracer("test").spanBuilder("application").startSpan();
      try (Scope scope = parent.makeCurrent()) {
        assertThat(scope).isNotNull();
        assertThat(client.sendAsync(CHAT)).succeedsWithin(Duration.ofSeconds(30));
      }
      parent.end();
      assertThat(only(spans(3), "chat m").getParentSpanId())
          .isEqualTo(parent.getSpanContext().getSpanId());
    }
  }

  @Test
  void aContextAmongTheHeadersIsThatOfTheRequestAndTheWorkerGetsAnother() {
    ScriptedTransport transport = new ScriptedTransport(request -> Script.ok(ANSWER));
    String given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    try (RouterClient client = client(transport)) {
      client.send(CHAT.toBuilder().header("Traceparent", given).build());

      List<SpanData> spans = spans(2);
      assertThat(only(spans, "chat m").getTraceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
      assertThat(only(spans, "chat m").getParentSpanId()).isEqualTo("b7ad6b7169203331");
      assertThat(transport.sent.element().headers().all("traceparent"))
          .containsExactly(traceparent(only(spans, "attempt")));
    }
  }

  @Test
  void ofATraceThatIsNotRecordedWorkersStillHear() {
    ScriptedTransport transport = new ScriptedTransport(request -> Script.ok(ANSWER));
    String given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    try (RouterClient client = client(transport)) {
      client.send(CHAT.toBuilder().header("traceparent", given).build());
      assertThatThrownBy(
              () ->
                  client.send(
                      RouterRequest.chatCompletions("not JSON").toBuilder()
                          .header("traceparent", given)
                          .build()))
          .isInstanceOf(InvalidRequestException.class);

      assertThat(exporter.getFinishedSpanItems()).isEmpty();
      assertThat(transport.sent.element().headers().all("traceparent"))
          .singleElement()
          .asString()
          .matches("00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-00");
    }
  }

  @Test
  void failuresAndWhatIsNotTakenInAreErrors() {
    try (RouterClient client = client(new ScriptedTransport(request -> Script.status(503)))) {
      assertThatThrownBy(() -> client.send(CHAT)).isInstanceOf(AllAttemptsFailedException.class);
      assertThat(only(spans(4), "chat m").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
      exporter.reset();

      assertThatThrownBy(() -> client.send(RouterRequest.chatCompletions("not JSON")))
          .isInstanceOf(InvalidRequestException.class);
      SpanData refused = only(spans(1), "chat");
      assertThat(attribute(refused, "error.type")).isEqualTo("InvalidRequestException");
    }
  }

  @Test
  void aStreamThatIsClosedEarlyEndsItsSpans() {
    ScriptedTransport transport =
        new ScriptedTransport(request -> Script.streams("{\"choices\":[]}").thenHanging());
    try (RouterClient client = client(transport)) {
      RouterStream stream =
          client.stream(
              RouterRequest.chatCompletions(
                  BODY.substring(0, BODY.length() - 1) + ",\"stream\":true}"));
      stream.close();
      List<SpanData> spans = spans(2);
      assertThat(attribute(only(spans, "chat m"), "warmpath.outcome")).isEqualTo("cancelled");
      assertThat(attribute(only(spans, "attempt"), "error.type")).isEqualTo("cancelled");
    }
  }

  @Test
  void bothLegsOfAPairAreChildrenAndCarryTheirOwnContext() {
    ScriptedTransport transport = new ScriptedTransport(request -> Script.ok(ANSWER));
    try (RouterClient client =
        builder(transport)
            .worker("http://p0:1;role=prefill;model=m;engine=sglang")
            .worker("http://d0:1;role=decode;model=m;engine=sglang")
            .build()) {
      client.send(CHAT);

      List<SpanData> spans = spans(3);
      SpanData request = only(spans, "chat m");
      for (String role : List.of("prefill", "decode")) {
        SpanData leg = only(spans, role);
        assertThat(leg.getParentSpanId()).isEqualTo(request.getSpanId());
        assertThat(leg.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(
                transport.sent.stream()
                    .filter(sent -> sent.target().worker().role().label().equals(role))
                    .map(sent -> sent.headers().get("traceparent")))
            .containsExactly(traceparent(leg));
      }
    }
  }

  @Test
  void noSpanHoldsWhatIsPrivate() {
    try (RouterClient client = client(new ScriptedTransport(request -> Script.ok(ANSWER)))) {
      client.send(CHAT.toBuilder().header("X-Private", "a secret header").build());
      for (SpanData span : spans(2)) {
        assertThat(span.toString()).doesNotContain("secret");
      }
    }
  }

  @Test
  void aTracerThatThrowsHurtsNoRequest() {
    RouterTracer broken =
        (request, since) ->
            new RouterTracer.RequestTrace() {
              @Override
              public RouterTracer.HopTrace hop(RouterTracer.Hop hop) {
                throw new IllegalStateException("hop");
              }

              @Override
              public void onFinished(RequestEvent event) {
                throw new AssertionError("finished");
              }
            };
    RouterTracer worse =
        (request, since) -> {
          throw new IllegalStateException("begin");
        };
    for (RouterTracer tracer : List.of(broken, worse)) {
      try (RouterClient client =
          builder(new ScriptedTransport(request -> Script.ok(ANSWER)))
              .worker("http://w0:1;engine=vllm;model=m")
              .tracer(tracer)
              .build()) {
        assertThat(client.send(CHAT).status()).isEqualTo(200);
        assertThat(client.stats().inFlight()).isZero();
      }
    }
  }
}
