package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouterRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TenantKeyTest {
  private static final String BARE =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

  private final ScriptedTransport transport =
      new ScriptedTransport(request -> Script.ok("{\"choices\":[]}"));
  private final RouterClient router =
      RouterClient.builder()
          .worker("http://w0:1;engine=vllm;model=m")
          .transport(transport)
          .tenantKeyRequired(true)
          .build();

  @AfterEach
  void close() {
    router.close();
  }

  private static RouterRequest with(String key) {
    return RouterRequest.chatCompletions(BARE.replace("{\"model\"", "{" + key + "\"model\""));
  }

  @Test
  void aRequestWithoutKeyIsRefusedBeforeAnythingIsSent() {
    assertThatThrownBy(() -> router.send(with("")))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("cache_salt");
    assertThatThrownBy(() -> router.explain(with(""))).isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(
            () -> router.send(RouterRequest.builder("/generate").body("{\"text\":\"x\"}").build()))
        .as("what can't be read has no key")
        .isInstanceOf(InvalidRequestException.class);
    assertThat(transport.sent).isEmpty();
    assertThat(router.stats().inFlight()).isZero();
  }

  @Test
  void eitherKeyWillDo() {
    assertThatCode(() -> router.send(with("\"cache_salt\":\"a\","))).doesNotThrowAnyException();
    assertThatCode(() -> router.send(with("\"extra_key\":\"a\","))).doesNotThrowAnyException();
    assertThat(transport.sent).hasSize(2);
  }
}
