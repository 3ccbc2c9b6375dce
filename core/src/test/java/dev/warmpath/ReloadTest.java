package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RouterClosedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.config.ConfigException;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A running client is given other configurations. */
class ReloadTest {
  private static final RouterRequest REQUEST =
      RouterRequest.chatCompletions(
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}");

  private @Nullable RouterClient router;
  private @Nullable ScriptedTransport transport;

  private static RouterConfig config(String... lines) {
    return RouterConfig.parse(String.join("\n", lines), "router.yaml");
  }

  private static String workers(int from, int to) {
    StringBuilder list = new StringBuilder("workers:");
    for (int i = from; i < to; i++) {
      list.append("\n  - http://w").append(i).append(":1;engine=vllm;model=m");
    }
    return list.toString();
  }

  private RouterClient router(RouterConfig config, Function<OutboundRequest, Script> scripts) {
    transport = new ScriptedTransport(scripts);
    router = RouterClient.builder().transport(transport).config(config).seed(1).build();
    assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
    return router;
  }

  @AfterEach
  void nothingIsLeft() {
    if (router != null && transport != null) {
      assertThat(router.stats().inFlight()).isZero();
      router.close();
      assertThat(transport.open).hasValue(0);
    }
  }

  private static String address(OutboundRequest request) {
    return request.target().worker().id().value();
  }

  private Set<String> addressesOf(RouterClient client, int requests) {
    ScriptedTransport wire = transport;
    assertThat(wire).isNotNull();
    wire.sent.clear();
    for (int i = 0; i < requests; i++) {
      client.send(REQUEST);
    }
    Set<String> addresses = new TreeSet<>();
    wire.sent.forEach(request -> addresses.add(address(request)));
    return addresses;
  }

  @Test
  void noneOfAThousandRequestsIsLostWhileWorkersAndPolicyChange() throws Exception {
    // a worker that leaves and is back before anybody looked has restarted, and would begin slowly
    String atOnce = "health: {degradation: {slow_start_share: 1}}";
    RouterConfig one = config(workers(0, 3), "policy: round_robin", atOnce);
    RouterConfig other =
        config(workers(2, 5), "policy: pin>homing>shortest_queue", "deadline: 1h", atOnce);
    RouterClient client = router(one, request -> Script.ok("{\"choices\":[]}"));
    ReloadTraffic.noneIsLost(client, List.of(other, one), REQUEST);
    client.reload(other);
    assertThat(client.policy().name()).isEqualTo("pin>homing>shortest_queue");
    assertThat(client.config()).isSameAs(other);
    client.reload(config(workers(2, 5), "policy: round_robin", atOnce));
    assertThat(addressesOf(client, 6)).containsExactly("http://w2:1", "http://w3:1", "http://w4:1");
  }

  @Test
  void aRequestKeepsWhatItBeganWith() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    CountDownLatch reloaded = new CountDownLatch(1);
    RouterClient client =
        router(
            config(workers(0, 2), "policy: round_robin", "retry: {max_attempts: 2}"),
            request -> {
              if (reloaded.getCount() == 0) {
                return Script.ok("{\"choices\":[]}");
              }
              sent.countDown();
              try {
                reloaded.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              return Script.fails(Kind.CONNECT, FailurePhase.CONNECT);
            });
    CompletableFuture<Integer> status =
        CompletableFuture.supplyAsync(() -> client.send(REQUEST).status());
    sent.await();
    client.reload(config(workers(1, 3), "policy: random", "retry: {max_attempts: 1}"));
    reloaded.countDown();
    // It was promised a second attempt.
    assertThat(status.get()).isEqualTo(200);
  }

  @Test
  void requestsThatBeginLaterGoByTheNewRules() {
    RouterClient client =
        router(
            config(workers(0, 2), "policy: round_robin"),
            request -> Script.fails(Kind.CONNECT, FailurePhase.CONNECT));
    client.reload(config(workers(0, 2), "retry: {max_attempts: 1}"));
    assertThatThrownBy(() -> client.send(REQUEST))
        .isInstanceOfSatisfying(
            AllAttemptsFailedException.class, e -> assertThat(e.attempts()).hasSize(1));
  }

  @Test
  void aChangeThatCanNotBeTakenLeavesEverythingAsItWas() {
    RouterConfig first = config(workers(0, 2), "policy: round_robin");
    RouterClient client = router(first, request -> Script.ok("{}"));
    assertThatThrownBy(
            () ->
                client.reload(
                    config(workers(3, 4), "policy: random", "index_bytes: 1MB", "seed: 3")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContainingAll(
            "router.yaml",
            "restart the client",
            "index_bytes: memory is laid out when the client starts",
            "seed: what came before");
    assertThat(client.config()).isSameAs(first);
    assertThat(client.policy().name()).isEqualTo("round_robin");
    assertThat(addressesOf(client, 2)).containsExactly("http://w0:1", "http://w1:1");
  }

  @Test
  void keysAreRotatedForEveryWorkerWithoutOneOfItsOwn() {
    RouterClient client =
        router(
            config(
                "workers:",
                "  - http://w0:1;engine=vllm;model=m",
                "  - {url: 'http://w1:1', engine: vllm, models: m, api_key: own}",
                "policy: round_robin",
                "api_key: first",
                "admin_key: admin-first"),
            request -> Script.ok("{}"));
    long epoch = client.workers().list().get(0).worker().epoch();
    client.reload(
        config(
            "workers:",
            "  - http://w0:1;engine=vllm;model=m",
            "  - {url: 'http://w1:1', engine: vllm, models: m, api_key: own}",
            "policy: round_robin",
            "api_key: second",
            "admin_key: admin-second"));
    assertThat(client.workers().list().get(0).worker().epoch()).isEqualTo(epoch);
    addressesOf(client, 2);
    ScriptedTransport wire = transport;
    assertThat(wire).isNotNull();
    assertThat(wire.sent)
        .extracting(request -> request.target().worker().spec().apiKey())
        .containsExactlyInAnyOrder(Secret.of("second"), Secret.of("own"));
    assertThat(wire.sent)
        .extracting(request -> request.target().worker().spec().adminKey())
        .containsOnly(Secret.of("admin-second"));
  }

  @Test
  void whatTheBuilderWasToldWinsBeforeAndAfter() {
    transport = new ScriptedTransport(request -> Script.ok("{}"));
    router =
        RouterClient.builder()
            .policy(Policies.random())
            .worker("http://w9:1;engine=vllm;model=m")
            .transport(transport)
            .config(config(workers(0, 1), "policy: round_robin"))
            .build();
    assertThat(router.policy().name()).isEqualTo("random");
    assertThat(router.workers().list()).hasSize(2);
    router.reload(config(workers(0, 3), "policy: pin"));
    assertThat(router.policy().name()).isEqualTo("random");
    assertThat(router.workers().list()).hasSize(4);
  }

  @Test
  void aClosedClientTakesNothing() {
    RouterClient client = router(config(workers(0, 1)), request -> Script.ok("{}"));
    client.close();
    assertThatThrownBy(() -> client.reload(config(workers(0, 2))))
        .isInstanceOf(RouterClosedException.class);
  }
}
