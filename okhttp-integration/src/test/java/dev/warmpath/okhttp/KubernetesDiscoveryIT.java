package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.config.KubernetesSettings;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Against fabric8's mock server, through a wire that can be cut. */
@Tag("long")
class KubernetesDiscoveryIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<List<WorkerSpec>> told = new CopyOnWriteArrayList<>();
  private final List<Exception> errors = new CopyOnWriteArrayList<>();
  private static KubernetesMockServer server;
  private static KubernetesClient operator;
  private Wire wire;
  private KubernetesClient client;
  private WorkerDiscovery discovery;

  @BeforeAll
  static void startServer() {
    server =
        new KubernetesMockServer(
            new Context(),
            new MockWebServer(),
            new HashMap<>(),
            new KubernetesCrudDispatcher(),
            false);
    server.init();
    operator = client(server.getPort());
  }

  @AfterAll
  static void stopServer() {
    operator.close();
    server.destroy();
  }

  @BeforeEach
  void start() throws IOException {
    wire = new Wire(server.getPort());
    client = client(wire.port());
  }

  private static KubernetesClient client(int port) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl("http://127.0.0.1:" + port)
            .withNamespace("prod")
            .withWatchReconnectInterval(20)
            .withRequestRetryBackoffLimit(0)
            .withConnectionTimeout((int) PATIENCE.toMillis())
            .withRequestTimeout((int) PATIENCE.toMillis())
            .withHttp2Disable(true)
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  @AfterEach
  void stop() throws IOException {
    if (discovery != null) {
      discovery.close();
    }
    client.close();
    wire.close();
    operator.discovery().v1().endpointSlices().inNamespace("prod").delete();
    operator.pods().inNamespace("prod").delete();
  }

  private void discover(WorkerDiscovery made) {
    discovery = made;
    made.start(
        new WorkerDiscovery.Listener() {
          @Override
          public void onWorkers(Collection<WorkerSpec> workers) {
            told.add(List.copyOf(workers));
          }

          @Override
          public void onError(Exception error) {
            errors.add(error);
          }
        });
  }

  private KubernetesDiscovery standard() {
    return KubernetesDiscovery.builder(client, "prod", "sglang").build();
  }

  private List<String> addresses() {
    return told.isEmpty()
        ? List.of("nothing told")
        : told.get(told.size() - 1).stream().map(spec -> spec.id().value()).toList();
  }

  private void awaitAddresses(String... expected) {
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(addresses()).containsExactly(expected));
  }

  private static Endpoint pod(String ip, String uid, Boolean ready, Boolean terminating) {
    return new EndpointBuilder()
        .withAddresses(ip)
        .withNodeName("node-1")
        .withZone("west")
        .withNewConditions()
        .withReady(ready)
        .withTerminating(terminating)
        .endConditions()
        .withNewTargetRef()
        .withKind("Pod")
        .withName("pod-" + uid)
        .withUid(uid)
        .endTargetRef()
        .build();
  }

  private static Endpoint pod(String ip, String uid) {
    return pod(ip, uid, true, null);
  }

  private static EndpointSlice slice(
      String name, Map<String, String> labels, List<Endpoint> endpoints) {
    return new EndpointSliceBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("prod")
        .addToLabels(KubernetesDiscovery.SERVICE_LABEL, "sglang")
        .addToLabels(labels)
        .endMetadata()
        .withAddressType("IPv4")
        .withEndpoints(endpoints)
        .addNewPort()
        .withName("metrics")
        .withPort(9_090)
        .endPort()
        .addNewPort()
        .withName("http")
        .withPort(30_000)
        .endPort()
        .build();
  }

  private void apply(EndpointSlice slice) {
    EndpointSlice present =
        operator
            .discovery()
            .v1()
            .endpointSlices()
            .inNamespace("prod")
            .withName(slice.getMetadata().getName())
            .get();
    if (present == null) {
      operator.resource(slice).create();
    } else {
      operator.resource(slice).update();
    }
  }

  @Test
  void whatAFileSaysOfAServiceIsFollowed() {
    apply(slice("a", Map.of(), List.of(pod("10.0.0.1", "p1"))));
    KubernetesClient own = client(wire.port());
    discover(
        OwnKubernetes.of(
            new KubernetesSettings(
                "prod", "sglang", "https", "http", 8_443, true, Duration.ofMinutes(1)),
            worker -> worker.role(WorkerRole.DECODE),
            own));
    assertThat(discovery.name()).isEqualTo("kubernetes:prod/sglang");
    awaitAddresses("https://10.0.0.1:8443");
    assertThat(told.get(told.size() - 1))
        .extracting(WorkerSpec::role)
        .containsExactly(WorkerRole.DECODE);
  }

  @Test
  void readyPodsAreWorkersWithRoleAndEngineFromLabels() {
    apply(
        slice(
            "a",
            Map.of("warmpath.dev/role", "prefill", "warmpath.dev/engine", "sglang"),
            List.of(
                pod("10.0.0.1", "one"),
                pod("10.0.0.2", "two", false, null),
                pod("10.0.0.3", "three", null, null),
                pod("10.0.0.4", "four", true, true),
                new EndpointBuilder().build())));
    discover(
        KubernetesDiscovery.builder(client, "prod", "sglang")
            .portName("http")
            .workers(builder -> builder.apiKey(Secret.of("k")))
            .build());
    awaitAddresses("http://10.0.0.1:30000", "http://10.0.0.3:30000");
    WorkerSpec worker = told.get(told.size() - 1).get(0);
    assertThat(worker.role()).isEqualTo(WorkerRole.PREFILL);
    assertThat(worker.engine()).isEqualTo(EngineKind.SGLANG);
    assertThat(worker.apiKey()).isEqualTo(Secret.of("k"));
    assertThat(worker.labels())
        .isEqualTo(Map.of("pod", "pod-one", "node", "node-1", "zone", "west"));
  }

  @Test
  void conditionsAndSlicesAreFollowed() {
    discover(standard());
    awaitAddresses();
    apply(slice("a", Map.of(), List.of(pod("10.0.0.1", "one"))));
    awaitAddresses("http://10.0.0.1:9090");
    apply(slice("b", Map.of(), List.of(pod("10.0.0.2", "two"), pod("10.0.0.1", "one"))));
    awaitAddresses("http://10.0.0.1:9090", "http://10.0.0.2:9090");
    apply(slice("b", Map.of(), List.of(pod("10.0.0.2", "two", false, null))));
    awaitAddresses("http://10.0.0.1:9090");
    operator.resource(slice("a", Map.of(), List.of())).delete();
    awaitAddresses();
    assertThat(errors).isEmpty();
  }

  @Test
  void whatWentWhileTheWatchWasBrokenIsFound() {
    apply(slice("a", Map.of(), List.of(pod("10.0.0.1", "one"))));
    apply(slice("b", Map.of(), List.of(pod("10.0.0.2", "two"))));
    // Not every HTTP client notices that its connection is gone.
    discover(
        KubernetesDiscovery.builder(client, "prod", "sglang")
            .relistInterval(Duration.ofMillis(300))
            .build());
    awaitAddresses("http://10.0.0.1:9090", "http://10.0.0.2:9090");
    wire.cut();
    operator.resource(slice("b", Map.of(), List.of())).delete();
    wire.mend();
    awaitAddresses("http://10.0.0.1:9090");
    apply(slice("c", Map.of(), List.of(pod("10.0.0.3", "three"))));
    awaitAddresses("http://10.0.0.1:9090", "http://10.0.0.3:9090");
  }

  @Test
  void aPodThatTakesOverAnAddressIsAnotherWorker() {
    apply(slice("a", Map.of(), List.of(pod("10.0.0.1", "one"), pod("10.0.0.2", "two"))));
    discover(standard());
    awaitAddresses("http://10.0.0.1:9090", "http://10.0.0.2:9090");
    told.clear();
    apply(slice("a", Map.of(), List.of(pod("10.0.0.1", "other"), pod("10.0.0.2", "two"))));
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(told.stream().map(List::size)).contains(1));
    awaitAddresses("http://10.0.0.1:9090", "http://10.0.0.2:9090");
  }

  @Test
  void podsOfOneServiceTellTheirOwnRoles() {
    String prefill = createPod("prefill-0", Map.of("warmpath.dev/role", "prefill"));
    String decode =
        createPod("decode-0", Map.of("warmpath.dev/role", "decode", "warmpath.dev/engine", "vllm"));
    String plain = createPod("plain-0", Map.of());
    apply(
        slice(
            "a",
            Map.of("warmpath.dev/engine", "sglang"),
            List.of(
                podNamed("10.0.0.1", "prefill-0", prefill),
                podNamed("10.0.0.2", "decode-0", decode),
                podNamed("10.0.0.3", "plain-0", plain),
                podNamed("10.0.0.4", "gone-0", "an-earlier-one"))));
    discover(KubernetesDiscovery.builder(client, "prod", "sglang").podLabels().build());
    awaitAddresses(
        "http://10.0.0.1:9090",
        "http://10.0.0.2:9090",
        "http://10.0.0.3:9090",
        "http://10.0.0.4:9090");
    List<WorkerSpec> workers = told.get(told.size() - 1);
    assertThat(workers)
        .extracting(WorkerSpec::role)
        .containsExactly(WorkerRole.PREFILL, WorkerRole.DECODE, null, null);
    assertThat(workers)
        .extracting(WorkerSpec::engine)
        .containsExactly(EngineKind.SGLANG, EngineKind.VLLM, EngineKind.SGLANG, EngineKind.SGLANG);
    assertThat(errors).isEmpty();
  }

  /** Its uid, which the server gives. */
  private static String createPod(String name, Map<String, String> labels) {
    return operator
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace("prod")
                .withLabels(labels)
                .endMetadata()
                .build())
        .create()
        .getMetadata()
        .getUid();
  }

  private static Endpoint podNamed(String ip, String name, String uid) {
    return new EndpointBuilder(pod(ip, uid)).editTargetRef().withName(name).endTargetRef().build();
  }

  @Test
  void aLabelThatMeansNothingIsReported() {
    apply(slice("a", Map.of("warmpath.dev/role", "boss"), List.of(pod("10.0.0.1", "one"))));
    apply(slice("b", Map.of(), List.of(pod("10.0.0.2", "two"))));
    discover(standard());
    awaitAddresses("http://10.0.0.2:9090");
    assertThat(errors).isNotEmpty();
    assertThat(errors.get(0)).hasMessageContainingAll("kubernetes:prod/sglang", "slice a", "boss");
  }

  /** A wire to the server that can be cut. */
  private static final class Wire {
    private final ServerSocket listening;
    private final int to;
    private final List<Socket> ends = new ArrayList<>();
    private boolean down;

    Wire(int to) throws IOException {
      this.to = to;
      this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      thread(this::accept);
    }

    int port() {
      return listening.getLocalPort();
    }

    private static void thread(Runnable work) {
      Thread thread = new Thread(work, "test-wire");
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() {
      try {
        while (true) {
          Socket near = listening.accept();
          synchronized (this) {
            if (down) {
              near.close();
              continue;
            }
            Socket far = new Socket(InetAddress.getLoopbackAddress(), to);
            ends.add(near);
            ends.add(far);
            thread(() -> copy(near, far));
            thread(() -> copy(far, near));
          }
        }
      } catch (IOException e) {
        // closed
      }
    }

    private static void copy(Socket from, Socket into) {
      try (from;
          into) {
        InputStream in = from.getInputStream();
        OutputStream out = into.getOutputStream();
        byte[] buffer = new byte[8_192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          out.write(buffer, 0, n);
          out.flush();
        }
      } catch (IOException e) {
        // cut
      }
    }

    synchronized void cut() {
      down = true;
      ends.forEach(Wire::quietly);
      ends.clear();
    }

    synchronized void mend() {
      down = false;
    }

    private static void quietly(Socket socket) {
      try {
        socket.close();
      } catch (IOException e) {
        // gone already
      }
    }

    void close() throws IOException {
      listening.close();
      cut();
    }
  }
}
