package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.dispatch.BreakerSettings;
import dev.warmpath.dispatch.DeadLetters;
import dev.warmpath.dispatch.Dispatch;
import dev.warmpath.dispatch.DispatchSettings;
import dev.warmpath.dispatch.Dispatcher;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.dispatch.PrefixFeed;
import dev.warmpath.dispatch.RequestScreen;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.dispatch.Rules;
import dev.warmpath.health.Fleet;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingEnvironment;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.VirtualScheduler;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** A dispatcher over a fleet of pairs, all on a virtual clock, without transports. */
final class PdFixture implements AutoCloseable {
  static final String STREAMED =
      "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  static final String WHOLE = STREAMED.replace("\"stream\":true,", "");

  final VirtualScheduler scheduler = new VirtualScheduler();
  final WorkerRegistry registry = new WorkerRegistry();
  final Fleet fleet;
  final Dispatcher dispatcher;
  final PdShared shared;
  final SplittableRandom random;

  PdFixture(long seed, PdSettings settings, PdCalls calls, String... workers) {
    this(seed, settings, calls, Policies.roundRobin(), Policies.roundRobin(), workers);
  }

  PdFixture(
      long seed,
      PdSettings settings,
      PdCalls calls,
      RoutingPolicy prefillPolicy,
      RoutingPolicy decodePolicy,
      String... workers) {
    random = new SplittableRandom(seed);
    fleet = new Fleet(registry, gone -> {});
    DispatchSettings dispatch =
        new DispatchSettings(
            Timeouts.DEFAULT,
            null,
            new RetrySettings(
                4,
                0.5,
                1_000_000,
                Duration.ofMillis(5),
                Duration.ofMillis(50),
                Duration.ofSeconds(10)),
            BreakerSettings.DEFAULT,
            new AdmissionSettings(1_000_000, 10, Duration.ofSeconds(1)),
            Duration.ZERO);
    dispatcher =
        new Dispatcher(
            fleet,
            new Rules(Policies.standard(), dispatch, Map.of()),
            RoutingEnvironment.builder().seed(seed).build(),
            PromptReader.builder().build(),
            PrefixFeed.NONE,
            RequestScreen.NONE,
            List.<RouterListener>of(),
            null,
            new DeadLetters(0),
            scheduler::nanoTime,
            random::nextLong,
            (nanos, until) -> until.getCount() == 0);
    List<WorkerSpec> specs = new ArrayList<>();
    for (String worker : workers) {
      specs.add(WorkerSpec.parse(worker));
    }
    registry.replace("test", specs);
    shared =
        PdShared.of(
            dispatcher,
            new PdSelector(dispatcher, new PdRules(prefillPolicy, decodePolicy, settings)),
            new RoomSource(random::nextLong, 1),
            scheduler,
            calls);
  }

  Dispatch begin(String body, Duration deadline) {
    RouterRequest.Builder request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS).body(body);
    if (deadline != null) {
      request.deadline(deadline);
    }
    return dispatcher.begin(request.build());
  }

  /** A session that is not started; whoever hears its last word ends its dispatch. */
  PdConductor conductor(Dispatch dispatch, PdPort port) {
    PairDispatch request = dispatch.pair("pairs", () -> null);
    String body = new String(request.request().body(), java.nio.charset.StandardCharsets.UTF_8);
    Original original =
        new Original(
            RouterRequest.CHAT_COMPLETIONS,
            request.forwarded(),
            Objects.requireNonNull(JsonFields.find(request.request().body())),
            body.contains("\"stream\":true"));
    PdConductor conductor =
        new PdConductor(
            shared,
            shared.selector().rules(),
            request,
            original,
            RouterRequest.CHAT_COMPLETIONS,
            port,
            false);
    request.onCancel(conductor::cancel);
    return conductor;
  }

  /** A request to the first worker, whose answer matters to nobody. */
  OutboundRequest touch() {
    return new OutboundRequest(
        registry.current().ranks().get(0),
        "POST",
        "/v1/completions",
        Headers.EMPTY,
        new byte[0],
        false,
        false,
        null,
        Timeouts.DEFAULT);
  }

  /** Requests in flight at all ranks. */
  int inFlight() {
    int sum = 0;
    for (WorkerRank rank : registry.current().ranks()) {
      sum += Objects.requireNonNull(fleet.view().find(rank)).inFlight();
    }
    return sum;
  }

  long prefillTokens() {
    long sum = 0;
    for (WorkerRank rank : registry.current().ranks()) {
      sum += Objects.requireNonNull(fleet.view().find(rank)).prefillTokens();
    }
    return sum;
  }

  @Override
  public void close() {
    fleet.close();
    scheduler.close();
  }
}
