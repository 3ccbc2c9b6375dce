package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterTracer;
import dev.warmpath.policy.Policies;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateResponse;
import dev.warmpath.proto.sglang.scheduler.HealthCheckRequest;
import dev.warmpath.proto.sglang.scheduler.SamplingParams;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.sglang.scheduler.TokenizedInput;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Stubs of an application's own, whose calls are routed by the tokens in their messages. */
class RouterChannelIT {
  private final ExecutorService executor = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  private SglangSchedulerGrpc.SglangSchedulerBlockingStub stub(
      Fixture fixture, RouterClient router) {
    return SglangSchedulerGrpc.newBlockingStub(
        RouterChannel.of(router, fixture.transport, executor));
  }

  private static GenerateRequest request(int first) {
    TokenizedInput.Builder input = TokenizedInput.newBuilder();
    for (int i = 0; i < 64; i++) {
      input.addInputIds(first + i);
    }
    return GenerateRequest.newBuilder()
        .setRequestId("r")
        .setStream(true)
        .setTokenized(input)
        .setSamplingParams(SamplingParams.newBuilder().setN(1))
        .build();
  }

  private static List<GenerateResponse> all(Iterator<GenerateResponse> responses) {
    List<GenerateResponse> all = new ArrayList<>();
    responses.forEachRemaining(all::add);
    return all;
  }

  @Test
  void callsOfOnePrefixGoToOneWorker() throws Exception {
    try (Fixture first = new Fixture();
        Fixture second = new Fixture()) {
      String one = first.serve(first.engines.sglangScheduler());
      String other = second.serve(second.engines.sglangScheduler());
      RouterClient router =
          first.route(
              builder ->
                  builder.policy(Policies.cacheAware()).promptSource(RouterChannel.prompts()),
              one,
              other);
      var stub = stub(first, router);

      for (int i = 0; i < 4; i++) {
        assertThat(all(stub.generate(request(100)))).hasSizeGreaterThan(2);
      }

      assertThat(List.of(first.engines.requests.size(), second.engines.requests.size()))
          .containsExactlyInAnyOrder(4, 0);
      assertThat(stub.healthCheck(HealthCheckRequest.getDefaultInstance()).getHealthy()).isTrue();
    }
  }

  @Test
  void aFailureBeforeTheFirstMessageIsTriedElsewhere() throws Exception {
    try (Fixture fixture = new Fixture();
        Fixture broken = new Fixture()) {
      broken.engines.failure = Status.UNAVAILABLE.withDescription("loading");
      RouterClient router =
          fixture.route(
              builder -> builder.promptSource(RouterChannel.prompts()),
              broken.serve(broken.engines.sglangScheduler()),
              fixture.serve(fixture.engines.sglangScheduler()));
      var stub = stub(fixture, router);
      for (int i = 0; i < 2; i++) {
        assertThat(all(stub.generate(request(i)))).isNotEmpty();
      }
      assertThat(broken.engines.requests).isNotEmpty();
    }
  }

  @Test
  void theWorkerGetsTheTraceContextOfItsAttempt() throws Exception {
    RouterTracer tracer =
        (request, since) ->
            new RouterTracer.RequestTrace() {
              @Override
              public RouterTracer.HopTrace hop(RouterTracer.Hop hop) {
                return new RouterTracer.HopTrace() {
                  @Override
                  public Map<String, String> headers() {
                    return Map.of("traceparent", "of attempt " + hop.attempt());
                  }
                };
              }
            };
    Metadata.Key<String> traceparent =
        Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);
    Metadata own = new Metadata();
    own.put(traceparent, "of the application");
    try (Fixture fixture = new Fixture()) {
      RouterClient router =
          fixture.route(
              builder -> builder.promptSource(RouterChannel.prompts()).tracer(tracer),
              fixture.serve(fixture.engines.sglangScheduler()));
      fixture.engines.metadata.clear();
      var stub =
          stub(fixture, router).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(own));
      assertThat(all(stub.generate(request(1)))).isNotEmpty();
      assertThat(fixture.engines.metadata.stream().map(headers -> headers.getAll(traceparent)))
          .anySatisfy(values -> assertThat(values).containsExactly("of attempt 1"))
          .allSatisfy(
              values -> {
                if (values != null) {
                  assertThat(values).containsExactly("of attempt 1");
                }
              });
    }
  }

  @Test
  void theServersRefusalIsTheStubs() throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.failure = Status.INVALID_ARGUMENT.withDescription("too long");
      RouterClient router =
          fixture.route(builder -> {}, fixture.serve(fixture.engines.sglangScheduler()));
      var stub = stub(fixture, router);
      assertThatThrownBy(() -> all(stub.generate(request(1))))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> {
                assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
                assertThat(e.getStatus().getDescription()).isEqualTo("too long");
              });
    }
  }

  @Test
  void aWorkerOfAnotherServiceIsNotChosen() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router =
          fixture.route(builder -> {}, fixture.serve(fixture.engines.vllmEngine()));
      var stub = stub(fixture, router);
      assertThatThrownBy(() -> all(stub.generate(request(1))))
          .isInstanceOf(StatusRuntimeException.class)
          .hasMessageContaining("UNAVAILABLE")
          .hasMessageContaining("'vllm-engine'");
    }
  }

  @Test
  void cancellingReachesTheEngine() throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.hang = true;
      RouterClient router =
          fixture.route(builder -> {}, fixture.serve(fixture.engines.sglangScheduler()));
      var stub = stub(fixture, router);
      Context.CancellableContext context = Context.current().withCancellation();
      context.run(() -> stub.generate(request(1)));
      assertThat(fixture.engines.requests.poll(30, TimeUnit.SECONDS)).isNotNull();
      context.cancel(null);
      assertThat(fixture.engines.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }
}
