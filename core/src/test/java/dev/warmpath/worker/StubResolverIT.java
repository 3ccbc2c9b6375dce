package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Look-ups against a name server on loopback. */
@Timeout(60)
class StubResolverIT {
  private FakeNameServer server;

  @BeforeEach
  void start() throws IOException {
    server = new FakeNameServer();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private StubResolver resolver(String... search) {
    return resolver(List.of(server.address()), search);
  }

  private static StubResolver resolver(List<InetSocketAddress> servers, String... search) {
    return new StubResolver(
        new StubResolver.Config(servers, List.of(search), 5, Duration.ofSeconds(5), 1));
  }

  private static List<String> texts(HostResolver.Resolution found) {
    return found.addresses().stream().map(InetAddress::getHostAddress).toList();
  }

  @Test
  void bothFamiliesAndTheShorterTimeToLive() throws IOException {
    server.put("llm.example", 30, "10.0.0.1", "10.0.0.2");
    server.put("llm.example", 20, "2001:db8::1");
    HostResolver.Resolution found = resolver().resolve("llm.example");
    assertThat(texts(found)).containsExactly("10.0.0.1", "10.0.0.2", "2001:db8:0:0:0:0:0:1");
    assertThat(found.ttl()).isEqualTo(Duration.ofSeconds(20));
  }

  @Test
  void theSearchListCompletesShortNames() throws IOException {
    server.put("sglang.prod.svc.cluster.local", 30, "10.0.0.1");
    HostResolver.Resolution found =
        resolver("prod.svc.cluster.local", "svc.cluster.local", "cluster.local")
            .resolve("sglang.prod.svc");
    assertThat(texts(found)).containsExactly("10.0.0.1");
    assertThat(texts(resolver("svc.cluster.local").resolve("sglang.prod.svc.cluster.local.")))
        .containsExactly("10.0.0.1");
  }

  @Test
  void anAnswerTooLargeForUdpComesOverTcp() throws IOException {
    String[] many =
        IntStream.range(0, 1_000)
            .mapToObj(i -> "10.1." + i / 256 + "." + i % 256)
            .toArray(String[]::new);
    server.put("many.example", 30, many);
    assertThat(texts(resolver().resolve("many.example"))).containsExactly(many);
  }

  @Test
  void aNameWithoutAddressesIsAnEmptyAnswer() throws IOException {
    server.put("empty.example", 30);
    assertThat(resolver().resolve("empty.example").addresses()).isEmpty();
    assertThat(resolver("a.example").resolve("nobody.example").addresses()).isEmpty();
  }

  @Test
  void oneFamilyThatFailsDoesNotHideTheOther() throws IOException {
    server.put("llm.example", 30, "10.0.0.1");
    server.failing("llm.example", DnsMessage.TYPE_AAAA);
    assertThat(texts(resolver().resolve("llm.example"))).containsExactly("10.0.0.1");
  }

  @Test
  void aServerThatFailsIsNoEmptyAnswer() {
    server.failing("llm.example", DnsMessage.TYPE_A);
    assertThatThrownBy(() -> resolver().resolve("llm.example"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("127.0.0.1");
  }

  @Test
  void answersToOthersAreSkipped() throws IOException {
    server.put("llm.example", 30, "10.0.0.1");
    server.precedeWithForgery();
    assertThat(texts(resolver().resolve("llm.example"))).containsExactly("10.0.0.1");
  }

  @Test
  void theNextServerIsAskedWhenOneIsNotThere() throws IOException {
    server.put("llm.example", 30, "10.0.0.1");
    InetSocketAddress nobody;
    try (DatagramSocket taken = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      nobody = (InetSocketAddress) taken.getLocalSocketAddress();
    }
    assertThat(texts(resolver(List.of(nobody, server.address())).resolve("llm.example")))
        .containsExactly("10.0.0.1");
  }

  @Test
  void anInterruptEndsTheLookUp() {
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> resolver().resolve("llm.example")).isInstanceOf(IOException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void aWorkerIsFoundFromNameToUrl() throws Exception {
    server.put("llm.example", 30, "10.0.0.1");
    server.put("llm.example", 30, "2001:db8::1");
    DnsDiscovery discovery =
        DnsDiscovery.builder("llm.example", 8_000).resolver(resolver()).build();
    java.util.concurrent.CompletableFuture<List<String>> found =
        new java.util.concurrent.CompletableFuture<>();
    discovery.start(
        new WorkerDiscovery.Listener() {
          @Override
          public void onWorkers(java.util.Collection<WorkerSpec> workers) {
            found.complete(workers.stream().map(worker -> worker.id().value()).toList());
          }

          @Override
          public void onError(Exception error) {
            found.completeExceptionally(error);
          }
        });
    assertThat(found.get()).containsExactly("http://10.0.0.1:8000", "http://[2001:db8::1]:8000");
    discovery.close();
  }
}
