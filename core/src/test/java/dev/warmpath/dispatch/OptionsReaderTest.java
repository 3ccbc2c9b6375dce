package dev.warmpath.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.Headers;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterRequest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OptionsReaderTest {
  private static RouterRequest.Builder request() {
    return RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS);
  }

  @Test
  void readsEveryOptionFromItsHeader() {
    RouteOptions options =
        OptionsReader.options(
            request()
                .header("X-Warmpath-Session", "s")
                .header("x-warmpath-user", "u")
                .header("x-warmpath-pin", "http://w:1")
                .header("x-warmpath-priority", "-3")
                .header("x-warmpath-deadline-ms", "1500")
                .header("x-warmpath-profile", "batch")
                .build());
    assertThat(options)
        .isEqualTo(new RouteOptions(Duration.ofMillis(1500), -3, "s", "u", "http://w:1", "batch"));
  }

  @Test
  void understandsMorisSessionHeader() {
    assertThat(
            OptionsReader.options(request().header("x-mori-session-id", "m").build()).sessionKey())
        .isEqualTo("m");
  }

  @Test
  void prefersWhatIsSetInCode() {
    RouteOptions options =
        OptionsReader.options(
            request()
                .sessionKey("code")
                .priority(2)
                .header("x-warmpath-session", "header")
                .header("x-warmpath-priority", "9")
                .build());
    assertThat(options.sessionKey()).isEqualTo("code");
    assertThat(options.priority()).isEqualTo(2);
  }

  @Test
  void namesTheHeaderThatIsNoNumber() {
    assertThatThrownBy(
            () -> OptionsReader.options(request().header("x-warmpath-priority", "high").build()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("x-warmpath-priority");
    assertThatThrownBy(
            () -> OptionsReader.options(request().header("x-warmpath-deadline-ms", "0").build()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("x-warmpath-deadline-ms");
  }

  @Test
  void forwardsNeitherRoutingHeadersNorCredentialsNorHopByHopOnes() {
    Headers kept =
        OptionsReader.forwarded(
            Headers.of(
                "Authorization", "Bearer secret",
                "X-Api-Key", "secret",
                "Cookie", "c",
                "Host", "h",
                "Connection", "close",
                "Transfer-Encoding", "chunked",
                "x-warmpath-pin", "p",
                "X-Mori-Session-Id", "m",
                "traceparent", "00-1",
                "Content-Type", "application/json"));
    assertThat(kept)
        .isEqualTo(Headers.of("traceparent", "00-1", "Content-Type", "application/json"));
  }
}
