package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.config.ConfigException;
import dev.warmpath.config.HttpSettings;
import dev.warmpath.config.KubernetesSettings;
import dev.warmpath.config.RouterConfig;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a configuration file names of this module is there without code of the application's. */
class OkHttpPartsIT {
  private static RouterConfig config(String... lines) {
    return RouterConfig.parse(String.join("\n", lines), "router.yaml");
  }

  @Test
  void aFileAloneMakesAClientThatReachesItsWorkers() {
    try (MockWorker worker = MockWorker.started();
        RouterClient router =
            RouterClient.builder()
                .config(
                    config(
                        "transports: http",
                        "http: {keep_alive: 3s}",
                        "knowledge: {enabled: true, key: sk-node}",
                        "workers: ['" + worker.url() + ";engine=vllm;model=m']"))
                .build()) {
      assertThat(
              router
                  .send(RouterRequest.chatCompletions("{\"model\":\"m\",\"messages\":[]}"))
                  .status())
          .isEqualTo(200);
      assertThat(router.knowledge()).isPresent();
    }
  }

  @Test
  void whatTheApplicationGivesGoesBeforeWhatTheFileNames() {
    assertThat(config("transports: http").parts().transports(Set.of("http", "https"))).isEmpty();
    assertThat(config("policy: pin").parts().transports(Set.of())).isEmpty();
    assertThat(config("policy: pin").parts().knowledge()).isNull();
  }

  @Test
  void whatCanNotBeUsedIsNamedWithItsKey() {
    assertThatThrownBy(() -> config("http: {keep_alive: 0}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("router.yaml: http is not in order: keep_alive");
    assertThatThrownBy(() -> config("transports: carrier_pigeon"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("must be http or grpc");
    assertThatThrownBy(() -> config("discovery: {kubernetes: [{service: s}]}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("discovery.kubernetes[0].namespace is missing");
  }

  @Test
  void everyCallOfTheBuildersHasAKeyButThoseThatTakeCode() {
    assertThat(calls(OkHttpTransport.Builder.class, "client"))
        .isEqualTo(values(HttpSettings.class));
    assertThat(calls(KubernetesDiscovery.Builder.class, "workers"))
        .isEqualTo(values(KubernetesSettings.class, "namespace", "service"));
    assertThat(calls(OkHttpKnowledgeTransport.Builder.class, "client")).containsExactly("key");
  }

  private static Set<String> calls(Class<?> builder, String... but) {
    return Stream.of(builder.getMethods())
        .filter(call -> call.getReturnType() == builder)
        .map(Method::getName)
        .filter(name -> !Arrays.asList(but).contains(name))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> values(Class<?> settings, String... but) {
    return Stream.of(settings.getRecordComponents())
        .map(RecordComponent::getName)
        .filter(name -> !Arrays.asList(but).contains(name))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
