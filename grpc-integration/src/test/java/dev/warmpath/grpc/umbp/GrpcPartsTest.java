package dev.warmpath.grpc.umbp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.config.ConfigException;
import dev.warmpath.config.GrpcSettings;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.config.UmbpSettings;
import dev.warmpath.grpc.ChannelSettings;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.index.BlockQuery;
import dev.warmpath.transport.Transport;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a configuration file names of this module is there without code of the application's. */
class GrpcPartsTest {
  private static RouterConfig config(String text) {
    return RouterConfig.parse(text, "router.yaml");
  }

  @Test
  void aMasterThatIsNamedIsAsked() throws Exception {
    try (ScriptedMaster master = new ScriptedMaster(ScriptedMaster::nothing);
        BlockLocator locator =
            Objects.requireNonNull(
                config("umbp: {master: '" + master.address() + "'}").parts().blockLocator())) {
      BlockAnswer answer =
          locator
              .locate(new BlockQuery(3, block -> "k" + block, true, Duration.ofSeconds(60)))
              .get(60, TimeUnit.SECONDS);
      assertThat(answer.failure()).isNull();
      assertThat(answer.asked()).isEqualTo(3);
      assertThat(master.asked).hasSize(1);
    }
    assertThat(config("").parts().blockLocator()).isNull();
    assertThatThrownBy(() -> config("umbp: {master: 'ftp://x'}").parts().blockLocator())
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("router.yaml: umbp.master is wrong");
  }

  @Test
  void aTransportThatIsNamedIsMade() {
    List<Transport> made =
        config("transports: [grpc]\ngrpc: {keep_alive: 0}").parts().transports(Set.of("http"));
    assertThat(made).hasSize(1).first().isInstanceOf(GrpcTransport.class);
    made.get(0).close();
    assertThatThrownBy(() -> config("grpc: {max_inbound_bytes: 2GB}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("grpc is not in order: max_inbound_bytes");
  }

  @Test
  void everyCallOfTheBuildersHasAKeyButThoseThatTakeCode() {
    assertThat(values(GrpcSettings.class, "")).isEqualTo(values(ChannelSettings.class, "tls"));
    Set<String> calls =
        Stream.of(UmbpClient.Builder.class.getMethods())
            .filter(call -> call.getReturnType() == UmbpClient.Builder.class)
            .map(Method::getName)
            .filter(name -> !Set.of("channel", "ticker", "seed").contains(name))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(calls).isEqualTo(values(UmbpSettings.class, "master"));
  }

  private static Set<String> values(Class<?> settings, String but) {
    return Stream.of(settings.getRecordComponents())
        .map(RecordComponent::getName)
        .filter(name -> !name.equals(but))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
