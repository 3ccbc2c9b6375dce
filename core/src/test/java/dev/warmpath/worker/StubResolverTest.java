package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class StubResolverTest {
  @Test
  void resolvConfIsRead() {
    StubResolver.Config config =
        StubResolver.Config.parse(
            List.of(
                "# made by hand",
                "",
                "nameserver 10.96.0.10",
                "nameserver 2001:db8::53",
                "nameserver fe80::1%nowhere9",
                "nameserver ns.example",
                "nameserver",
                "domain overruled.example",
                "search prod.svc.cluster.local svc.cluster.local\tcluster.local",
                "options ndots:5 timeout:1 attempts:9 rotate ndots:x"));
    assertThat(config.servers().stream().map(server -> server.getAddress().getHostAddress()))
        .containsExactly("10.96.0.10", "2001:db8:0:0:0:0:0:53");
    assertThat(config.servers()).allMatch(server -> server.getPort() == 53);
    assertThat(config.search())
        .containsExactly("prod.svc.cluster.local", "svc.cluster.local", "cluster.local");
    assertThat(config.ndots()).isEqualTo(5);
    assertThat(config.timeout()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.attempts()).isEqualTo(3);
  }

  @Test
  void anEmptyResolvConfHasNoServers() {
    StubResolver.Config config = StubResolver.Config.parse(List.of());
    assertThat(config.servers()).isEmpty();
    assertThat(config.ndots()).isEqualTo(1);
  }

  @Test
  void literalsAreNotLookedUp() {
    assertThat(StubResolver.literal("10.0.0.1"))
        .extracting(InetAddress::getHostAddress)
        .isEqualTo("10.0.0.1");
    assertThat(StubResolver.literal("::1")).isNotNull();
    assertThat(StubResolver.literal("1.2.3.999")).isNull();
    assertThat(StubResolver.literal("a::b::c")).isNull();
    assertThat(StubResolver.literal("localhost")).isNull();
    assertThat(StubResolver.literal("1")).isNull();
  }
}
