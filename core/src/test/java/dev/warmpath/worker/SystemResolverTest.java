package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemResolverTest {
  @TempDir Path directory;
  private Path hosts;
  private Path resolvConf;
  private final List<String> platformAsked = new ArrayList<>();

  @BeforeEach
  void files() throws IOException {
    hosts = directory.resolve("hosts");
    resolvConf = directory.resolve("resolv.conf");
    Files.writeString(
        hosts, "127.0.0.1 localhost loop # mine\n10.0.0.7\tStatic.example # static.two\n");
  }

  private SystemResolver resolver() {
    return new SystemResolver(
        hosts,
        resolvConf,
        host -> {
          platformAsked.add(host);
          if (host.equals("nobody.example")) {
            throw new IOException("nobody");
          }
          return new HostResolver.Resolution(
              List.of(InetAddress.getByAddress(new byte[] {10, 9, 9, 9})), null);
        });
  }

  @Test
  void literalsStandForThemselves() throws IOException {
    HostResolver.Resolution found = resolver().resolve("10.1.2.3");
    assertThat(found.addresses()).hasSize(1);
    assertThat(found.ttl()).isNull();
    assertThat(platformAsked).isEmpty();
  }

  @Test
  void namesOfTheHostsFileAreThePlatforms() throws IOException {
    // The name server would be asked over the network: nothing listens there.
    Files.writeString(resolvConf, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
    resolver().resolve("loop");
    resolver().resolve("STATIC.example");
    assertThat(platformAsked).containsExactly("loop", "STATIC.example");
  }

  @Test
  void withoutResolvConfThePlatformIsAsked() throws IOException {
    assertThat(resolver().resolve("static.two").addresses()).hasSize(1);
    assertThat(platformAsked).containsExactly("static.two");
    assertThatThrownBy(() -> resolver().resolve("nobody.example")).hasMessage("nobody");
  }

  @Test
  void theMachinesOwnResolverKnowsLoopback() throws IOException {
    assertThat(HostResolver.system().resolve("localhost").addresses())
        .isNotEmpty()
        .allMatch(InetAddress::isLoopbackAddress);
  }
}
