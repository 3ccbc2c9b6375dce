package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RolloutSettings;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The ways out, through the client, at run time. */
class EscapeHatchTest {
  private static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
  private static final String GATEWAY = "http://gateway.example:8080";

  private final List<String> sent = new CopyOnWriteArrayList<>();
  private final ScriptedTransport transport =
      new ScriptedTransport(
          request -> {
            sent.add(request.target().worker().id().value());
            return Script.ok("{\"choices\":[]}");
          });
  private final RouterClient router = client();

  private RouterClient client() {
    RouterClient.Builder builder =
        RouterClient.builder().transport(transport).policy(Policies.parse("pin>session")).seed(3);
    for (int i = 0; i < 3; i++) {
      builder.worker("http://w" + i + ":1;engine=vllm;model=m");
    }
    builder.worker("http://p:1;engine=vllm;model=pd;role=prefill;pd=nixl");
    builder.worker("http://d:1;engine=vllm;model=pd;role=decode;pd=nixl");
    return builder.build();
  }

  @AfterEach
  void close() {
    router.close();
    assertThat(transport.open).hasValue(0);
  }

  private static RouterRequest request(String model) {
    return RouterRequest.builder("/v1/chat/completions")
        .body(BODY.replace("\"m\"", "\"" + model + "\""))
        .header("x-warmpath-session", "s")
        .build();
  }

  private RouteDecision send() {
    return router.send(request("m")).decision();
  }

  @Test
  void theKillSwitchSpreadsWhatAffinityKeptTogether() {
    for (int i = 0; i < 6; i++) {
      assertThat(send().policy()).isEqualTo("pin>session");
    }
    assertThat(sent).hasSize(6).containsOnly(sent.get(0));
    sent.clear();
    router.escapeHatch().roundRobin();
    for (int i = 0; i < 6; i++) {
      assertThat(send().policy()).isEqualTo("bypass:round_robin");
    }
    assertThat(sent).hasSize(6);
    assertThat(sent.subList(0, 3)).doesNotHaveDuplicates();
    router.escapeHatch().restore();
    assertThat(send().policy()).isEqualTo("pin>session");
  }

  @Test
  void everythingGoesToTheFallbackWhileItIsSet() {
    router.escapeHatch().fallback(GATEWAY);
    for (int i = 0; i < 3; i++) {
      RouteDecision decision = send();
      assertThat(decision.policy()).isEqualTo("bypass:round_robin");
      assertThat(Objects.requireNonNull(decision.chosen()).worker()).isEqualTo(GATEWAY);
    }
    assertThat(router.send(request("pd")).status())
        .as("what prefill and decode workers would share")
        .isEqualTo(200);
    assertThat(sent).hasSize(4).containsOnly(GATEWAY);
    assertThat(Objects.requireNonNull(router.explain(request("pd")).chosen()).worker())
        .isEqualTo(GATEWAY);
    sent.clear();
    router.escapeHatch().restore();
    send();
    assertThat(sent).doesNotContain(GATEWAY);
    assertThat(router.workers().list()).hasSize(5);
  }

  @Test
  void aFallbackThatIsNoAddressIsRefusedAndNothingChanges() {
    assertThatThrownBy(() -> router.escapeHatch().fallback("not an address"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> router.escapeHatch().fallback("grpc://gateway.example:1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no transport carries grpc");
    assertThat(send().policy()).isEqualTo("pin>session");
  }

  @Test
  void aReloadSetsTheRolloutAndLeavesTheKillSwitch() {
    router.escapeHatch().policies().settings(RolloutSettings.DEFAULT.share(0));
    assertThat(send().policy()).isEqualTo("baseline:shortest_queue");
    router.reload(RouterConfig.parse("deadline: 1m", "test"));
    assertThat(send().policy()).as("nothing said of it").isEqualTo("baseline:shortest_queue");
    router.escapeHatch().roundRobin();
    router.reload(
        RouterConfig.parse("rollout: {shadow: true, baseline: random, control: 0.02}", "test"));
    assertThat(send().policy()).isEqualTo("bypass:round_robin");
    router.escapeHatch().restore();
    assertThat(send().policy()).isEqualTo("shadow:random");
    assertThat(router.escapeHatch().policies().shadows().decisions()).isEqualTo(1);
  }
}
