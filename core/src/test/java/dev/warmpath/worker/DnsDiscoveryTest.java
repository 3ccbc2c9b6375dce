package dev.warmpath.worker;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DnsDiscoveryTest {
  private final VirtualScheduler time = new VirtualScheduler();
  private final DiscoveryLog log = new DiscoveryLog();
  private final List<Long> lookUps = new ArrayList<>();
  private List<String> addresses = List.of("10.0.0.1");
  private @Nullable Duration ttl = ofSeconds(30);
  private @Nullable RuntimeException broken;
  private boolean failing;
  private DnsDiscovery discovery = builder().build();

  private DnsDiscovery.Builder builder() {
    return DnsDiscovery.builder("llm.example", 8_000)
        .resolver(this::resolve)
        .scheduler(time)
        .seed(3);
  }

  @AfterEach
  void close() {
    discovery.close();
    time.advance(ofMinutes(10));
    assertThat(time.pending()).isZero();
  }

  private HostResolver.Resolution resolve(String host) throws IOException {
    assertThat(host).isEqualTo("llm.example");
    lookUps.add(time.nanoTime());
    if (broken != null) {
      throw broken;
    }
    if (failing) {
      throw new IOException("no server answers");
    }
    List<InetAddress> found =
        addresses.stream().map(text -> Objects.requireNonNull(StubResolver.literal(text))).toList();
    return new HostResolver.Resolution(found, ttl);
  }

  private void start() {
    discovery.start(log);
    assertThat(lookUps).as("starting does not block").isEmpty();
    time.run();
  }

  private List<Duration> gaps() {
    return Stream.iterate(1, i -> i < lookUps.size(), i -> i + 1)
        .map(i -> Duration.ofNanos(lookUps.get(i) - lookUps.get(i - 1)))
        .toList();
  }

  @Test
  void everyAddressIsAWorker() {
    addresses = List.of("10.0.0.1", "10.0.0.2", "2001:db8::1", "10.0.0.1");
    start();
    assertThat(log.last())
        .containsExactly(
            "http://10.0.0.1:8000", "http://10.0.0.2:8000", "http://[2001:db8::1]:8000");
    assertThat(discovery.name()).isEqualTo("dns:llm.example:8000");
  }

  @Test
  void workersHaveInCommonWhatTheyAreGiven() {
    discovery =
        builder()
            .scheme("HTTPS")
            .workers(worker -> worker.role(WorkerRole.DECODE).apiKey(Secret.of("k")))
            .build();
    start();
    assertThat(log.last()).containsExactly("https://10.0.0.1:8000");
    assertThat(log.specs().get(0).role()).isEqualTo(WorkerRole.DECODE);
    assertThat(log.specs().get(0).apiKey()).isEqualTo(Secret.of("k"));
  }

  @Test
  void theTimeToLiveSetsThePace() {
    start();
    time.advance(ofMinutes(10));
    assertThat(gaps()).hasSizeBetween(17, 20);
    assertThat(gaps()).allMatch(gap -> gap.compareTo(ofSeconds(30)) >= 0);
    assertThat(gaps()).allMatch(gap -> gap.compareTo(ofSeconds(33)) <= 0);
    assertThat(gaps()).as("they are spread").doesNotHaveDuplicates();
  }

  @Test
  void thePaceIsBounded() {
    ttl = Duration.ZERO;
    start();
    time.advance(ofSeconds(10));
    assertThat(gaps()).allMatch(gap -> gap.compareTo(ofSeconds(1)) >= 0);
    ttl = Duration.ofDays(7);
    time.advance(ofSeconds(2));
    lookUps.clear();
    time.advance(ofMinutes(30));
    assertThat(gaps()).hasSize(4).allMatch(gap -> gap.compareTo(ofSeconds(330)) <= 0);
  }

  @Test
  void withoutATimeToLiveThereIsADefault() {
    ttl = null;
    start();
    time.advance(ofMinutes(5));
    assertThat(gaps()).isNotEmpty().allMatch(gap -> gap.compareTo(ofSeconds(30)) >= 0);
    assertThat(gaps()).allMatch(gap -> gap.compareTo(ofSeconds(33)) <= 0);
  }

  @Test
  void changesAreFollowed() {
    start();
    addresses = List.of("10.0.0.2", "10.0.0.3");
    time.advance(ofSeconds(33));
    assertThat(log.last()).containsExactly("http://10.0.0.2:8000", "http://10.0.0.3:8000");
  }

  @Test
  void aFailureKeepsTheLastListAndIsRetriedEverMoreRarely() {
    start();
    failing = true;
    time.advance(ofMinutes(5));
    assertThat(log.lists()).hasSize(1);
    assertThat(log.errors().get(0)).contains("llm.example").contains("no server answers");
    List<Long> seconds = gaps().stream().map(Duration::toSeconds).toList();
    long[] expected = {1, 2, 4, 8, 16, 30};
    for (int i = 0; i < expected.length; i++) {
      assertThat(seconds.get(i + 1)).isBetween(expected[i], expected[i] * 11 / 10);
    }
    failing = false;
    addresses = List.of("10.0.0.9");
    time.advance(ofSeconds(34));
    assertThat(log.last()).containsExactly("http://10.0.0.9:8000");
    // The next failure begins anew.
    failing = true;
    lookUps.clear();
    while (lookUps.size() < 2) {
      time.advance(ofMillis(100));
    }
    assertThat(gaps().get(0)).isLessThanOrEqualTo(ofMillis(1_100));
  }

  @Test
  void aResolverThatBreaksIsAFailureToo() {
    broken = new IllegalStateException("a bug in the resolver");
    start();
    assertThat(log.errors()).hasSize(1);
    broken = null;
    time.advance(ofSeconds(2));
    assertThat(log.last()).hasSize(1);
  }

  @Test
  void anEmptyAnswerIsBelievedTheThirdTime() {
    start();
    addresses = List.of();
    for (int count = 2; count <= 4; count++) {
      assertThat(log.lists()).hasSize(1);
      while (lookUps.size() < count) {
        time.advance(ofMillis(100));
      }
    }
    assertThat(gaps().subList(1, 3)).allMatch(gap -> gap.compareTo(ofMillis(1_100)) <= 0);
    assertThat(log.last()).isEmpty();
    addresses = List.of("10.0.0.1");
    time.advance(ofSeconds(33));
    assertThat(log.last()).hasSize(1);
  }

  @Test
  void oneEmptyAnswerAmongOthersIsIgnored() {
    start();
    for (int i = 0; i < 20; i++) {
      addresses = i % 3 == 2 ? List.of("10.0.0.1") : List.of();
      int seen = lookUps.size();
      while (lookUps.size() == seen) {
        time.advance(ofMillis(100));
      }
    }
    assertThat(log.lists()).allMatch(list -> list.size() == 1);
  }

  @Test
  void aNameThatNeverHadAnAddressIsReported() {
    addresses = List.of();
    start();
    assertThat(log.lists()).isEmpty();
    assertThat(log.errors().get(0)).contains("has no addresses");
    addresses = List.of("10.0.0.1");
    time.advance(ofSeconds(2));
    assertThat(log.last()).hasSize(1);
  }

  @Test
  void nothingIsLookedUpAfterClosing() {
    start();
    discovery.close();
    discovery.close();
    lookUps.clear();
    time.advance(ofMinutes(10));
    assertThat(lookUps).isEmpty();
    DnsDiscovery closed = builder().build();
    closed.close();
    closed.start(log);
    time.run();
    assertThat(lookUps).isEmpty();
  }

  @Test
  void whatIsFoundWhileClosingIsDropped() {
    discovery =
        builder()
            .resolver(
                host -> {
                  discovery.close();
                  return resolve(host);
                })
            .build();
    discovery.start(log);
    time.run();
    assertThat(log.lists()).isEmpty();
    assertThat(time.pending()).isZero();
  }

  @Test
  void nonsenseIsRefused() {
    assertThatThrownBy(() -> DnsDiscovery.of(" ", 1)).hasMessageContaining("host");
    assertThatThrownBy(() -> DnsDiscovery.of("a", 0)).hasMessageContaining("port 0");
    assertThatThrownBy(() -> builder().interval(ofSeconds(2), ofSeconds(1)))
        .hasMessageContaining("interval");
    assertThatThrownBy(() -> builder().interval(Duration.ZERO, ofSeconds(1)))
        .hasMessageContaining("interval");
  }
}
