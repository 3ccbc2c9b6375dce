package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerIdTest {
  @ParameterizedTest
  @CsvSource({
    "http://a:1, http://a:1",
    "HTTP://Host.Example:30000/, http://host.example:30000",
    "' http://a:1 ', http://a:1",
    "http://a, http://a:80",
    "https://a, https://a:443",
    "grpc://a:50051, grpc://a:50051",
    "http://a:1/base/, http://a:1/base",
    "http://a:1/base//, http://a:1/base",
    "http://llm_1:8000, http://llm_1:8000",
    "http://LLM_1, http://llm_1:80",
    "http://10.0.0.11:30000, http://10.0.0.11:30000",
    "http://[::1]:30000, http://[::1]:30000",
    "http://[0:0:0:0:0:0:0:1]:30000, http://[::1]:30000",
    "http://[2001:DB8:0:0:1:0:0:1]:1, http://[2001:db8::1:0:0:1]:1",
    "http://[2001:db8:0:1:1:1:1:1]:1, http://[2001:db8:0:1:1:1:1:1]:1",
    "http://[0:0:0:0:0:0:0:0]:1, http://[::]:1",
    "http://[fd00::]:1, http://[fd00::]:1",
    "http://[::ffff:10.0.0.1]:1, http://10.0.0.1:1",
  })
  void addressesAreNormalised(String address, String id) {
    assertThat(WorkerId.parse(address).value()).isEqualTo(id);
    assertThat(WorkerId.parse(id)).isEqualTo(WorkerId.parse(address));
    assertThat(WorkerId.parse(address).scheme()).isEqualTo(id.substring(0, id.indexOf(':')));
    assertThat(WorkerId.parse(address).uri()).hasToString(id);
  }

  @ParameterizedTest
  @CsvSource({
    "'', needs a scheme and a host",
    "a:1, needs a scheme and a host",
    "/a, needs a scheme and a host",
    "http://, not a URL",
    "http://a b, not a URL",
    "grpc://a, needs a port",
    "http://a:0, has port 0",
    "http://a:65536, has port 65536",
    "http://llm_1:65536, has port 65536",
    "http://a:1?x=1, keys are configured apart",
    "http://a:1#x, keys are configured apart",
    "http://a_b c:1, not a URL",
  })
  void whatIsWrongIsSaid(String address, String message) {
    assertThatThrownBy(() -> WorkerId.parse(address))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://user:sesame@a:1",
        "http://user:sesame@a b:1",
        "grpc://user:sesame@a",
        "http://user:sesame@a_b:1",
        "http://sesame@a:99999",
      })
  void credentialsInAnAddressAreRefusedAndNotRepeated(String address) {
    assertThatThrownBy(() -> WorkerId.parse(address))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("sesame")
        .hasNoCause();
  }

  @Test
  void addressesBecomeNames() throws Exception {
    assertThat(
            List.of("10.1.2.3", "::1", "2001:db8::1").stream()
                .map(WorkerIdTest::address)
                .map(address -> WorkerId.of("http", address, 8_000).value()))
        .containsExactly("http://10.1.2.3:8000", "http://[::1]:8000", "http://[2001:db8::1]:8000");
  }

  private static InetAddress address(String literal) {
    return java.util.Objects.requireNonNull(StubResolver.literal(literal));
  }
}
