package dev.warmpath.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.Retention;
import dev.warmpath.index.NodeIdResolver.Target;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where workers, models and the nodes of a store come from, as a file has it. */
class WrittenSourcesTest {
  private static RouterConfig parse(String text) {
    return RouterConfig.parse(text, "router.yaml", Map.of("POOL_KEY", "sk-planted-77")::get);
  }

  private static List<WorkerSpec> found(WorkerDiscovery discovery) throws Exception {
    CompletableFuture<Collection<WorkerSpec>> first = new CompletableFuture<>();
    try (discovery) {
      discovery.start(
          new WorkerDiscovery.Listener() {
            @Override
            public void onWorkers(Collection<WorkerSpec> workers) {
              first.complete(workers);
            }

            @Override
            public void onError(Exception error) {
              first.completeExceptionally(error);
            }
          });
      return List.copyOf(first.get(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void whatFoundWorkersHaveInCommonHoldsWhereTheirOwnEntryIsSilent(@TempDir Path dir)
      throws Exception {
    Path file = dir.resolve("workers.txt");
    Files.writeString(file, "http://a:1\nhttp://b:1;role=decode;zone=own;model=n\n");
    RouterConfig config =
        parse(
            """
            discovery:
              files:
                - path: %s
                  interval: 1h
                  workers:
                    role: prefill
                    engine: vllm
                    models: m
                    labels: {zone: common, pool: x}
                    api_key: ${POOL_KEY}
            """
                .formatted(file));

    List<WorkerSpec> workers = found(config.discoveries().get(0).open());

    WorkerSpec silent = workers.get(0);
    assertThat(silent.role()).isEqualTo(WorkerRole.PREFILL);
    assertThat(silent.engine()).isEqualTo(EngineKind.VLLM);
    assertThat(silent.models()).containsExactly("m");
    assertThat(silent.labels()).isEqualTo(Map.of("zone", "common", "pool", "x"));
    WorkerSpec telling = workers.get(1);
    assertThat(telling.role()).isEqualTo(WorkerRole.DECODE);
    assertThat(telling.engine()).isEqualTo(EngineKind.VLLM);
    assertThat(telling.models()).containsExactly("n");
    assertThat(telling.labels()).isEqualTo(Map.of("zone", "own", "pool", "x"));
    assertThat(workers).extracting(WorkerSpec::apiKey).containsOnly(Secret.of("sk-planted-77"));
  }

  @Test
  void aPathAloneIsAFileWithTheDefaults(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("workers.txt");
    Files.writeString(file, "http://a:1\n");
    RouterConfig alone = parse("discovery: {files: ['" + file + "']}");
    assertThat(found(alone.discoveries().get(0).open())).extracting(WorkerSpec::id).hasSize(1);
    assertThat(alone.saysTheSame(parse("discovery: {files: [{path: '" + file + "'}]}"))).isTrue();
  }

  @Test
  void commonKeysAreNoPartOfTheHashAndHaveNoUrl() {
    RouterConfig one =
        parse("discovery: {dns: [{host: h, port: 1, workers: {api_key: '${POOL_KEY}'}}]}");
    RouterConfig other = parse("discovery: {dns: [{host: h, port: 1, workers: {api_key: b}}]}");
    assertThat(one.hash()).isEqualTo(other.hash());
    assertThat(one.saysTheSame(other)).isFalse();
    assertThatThrownBy(
            () -> parse("discovery: {dns: [{host: h, port: 1, workers: {url: 'http://a:1'}}]}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("discovery.dns[0].workers.url is not a key");
    assertThatThrownBy(() -> parse("discovery: {dns: [{host: h, port: 1, default_interval: 2}]}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("default_interval must be a length of time");
  }

  @Test
  void aModelIsADirectoryOrAnObject(@TempDir Path dir) throws IOException {
    Map<String, ModelSource> models =
        parse("models: {a: '" + dir + "', b: {directory: '" + dir + "', chat_ml: true}}").models();
    assertThat(models)
        .isEqualTo(Map.of("a", new ModelSource(dir, false), "b", new ModelSource(dir, true)));
    assertThatThrownBy(() -> parse("models: {a: ''}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("models.a is wrong: name the directory");
  }

  @Test
  void nodesOfAStoreAreWorkersOrTheirRanks() {
    WorkerRegistry registry = new WorkerRegistry();
    registry.replace("test", List.of(WorkerSpec.parse("http://a:1;dp=4")));
    RouterConfig config =
        parse(
            "lookup: {nodes: {n1: 'http://a:1', n2: 'http://a:1#3'}, vllm_prefix: kv/, vllm_group:"
                + " 2}");
    WorkerId worker = WorkerId.parse("http://a:1");
    assertThat(config.lookup().nodes().resolve("n1", "", registry.current()))
        .isEqualTo(Target.of(worker));
    assertThat(config.lookup().nodes().resolve("n2", "", registry.current()))
        .isEqualTo(new Target(worker, OptionalInt.of(3)));
    BlockHashes hashes =
        HashSchemes.open("vllm-sha256", HashParams.parse("{\"block_size\":4}"), Retention.DIGESTS)
            .append(new int[] {1, 2, 3, 4})
            .finish()
            .hashes();
    assertThat(Objects.requireNonNull(config.lookup().encoder(EngineKind.VLLM)).key(hashes, 0))
        .isEqualTo("kv/" + hashes.digestHex(0) + "00000002");
    assertThatThrownBy(() -> parse("lookup: {nodes: {n: 'http://a:1#x'}}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("lookup.nodes.n is wrong: #x is no rank");
  }
}
