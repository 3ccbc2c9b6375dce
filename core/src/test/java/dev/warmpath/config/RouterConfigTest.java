package dev.warmpath.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.dispatch.DispatchSettings;
import dev.warmpath.health.DegradationMode;
import dev.warmpath.health.DegradationSettings;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.knowledge.KnowledgeSettings;
import dev.warmpath.knowledge.LoadWindow;
import dev.warmpath.knowledge.OverloadThresholds;
import dev.warmpath.knowledge.StageOrder;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouterConfigTest {
  private static final String SECRET = "sk-planted-1234";

  private static RouterConfig parse(String text) {
    return RouterConfig.parse(text, "router.yaml", Map.of("ENGINE_KEY", SECRET)::get);
  }

  @Test
  void whatIsNotSaidHasTheDefaultsOfTheSettings() {
    assertThat(RouterConfig.EMPTY.dispatch()).isEqualTo(DispatchSettings.DEFAULT);
    assertThat(RouterConfig.EMPTY.health()).isEqualTo(HealthSettings.DEFAULT);
    assertThat(RouterConfig.EMPTY.prefillDecode()).isEqualTo(PdSettings.DEFAULT);
    assertThat(RouterConfig.EMPTY.policy().name()).isEqualTo(Policies.standard().name());
    assertThat(RouterConfig.EMPTY.kvEvents()).isNull();
    assertThat(parse("").hash()).isEqualTo(RouterConfig.EMPTY.hash());
  }

  @Test
  void yamlAndJsonSayTheSame() {
    RouterConfig yaml =
        parse(
            """
            # comment
            workers:
              - http://a:30000;role=prefill
              - url: http://b:30000
                engine: vllm
                dp_size: 2
                labels: {zone: west}
                admin_key: ${ENGINE_KEY}
            policy: session>linear_cost
            linear_cost: {prefix: 3}
            retry:
              max_attempts: 2
              base_backoff: 50ms
            index_bytes: 1GB
            profiles:
              batch: {deadline: 1h, priority: -1, policy: round_robin}
            """);
    RouterConfig json =
        parse(
            """
            {"workers": ["http://a:30000;role=prefill", {"url": "http://b:30000", "engine": "vllm",
               "dp_size": 2, "labels": {"zone": "west"}, "admin_key": "${ENGINE_KEY}"}],
             "policy": "session>linear_cost", "linear_cost": {"prefix": 3.0},
             "retry": {"max_attempts": 2, "base_backoff": "PT0.05S"}, "index_bytes": 1073741824,
             "profiles": {"batch": {"deadline": "60m", "priority": -1, "policy": "round_robin"}}}
            """);
    assertThat(json.hash()).isEqualTo(yaml.hash()).hasSize(16);
    assertThat(json.workers()).isEqualTo(yaml.workers());
    WorkerSpec second = yaml.workers().get(1);
    assertThat(second.engine()).isEqualTo(EngineKind.VLLM);
    assertThat(second.adminKey()).isEqualTo(Secret.of(SECRET));
    assertThat(second.labels()).isEqualTo(Map.of("zone", "west"));
    assertThat(yaml.dispatch().retry().baseBackoff()).isEqualTo(Duration.ofMillis(50));
    assertThat(yaml.indexBytes()).isEqualTo(1L << 30);
    assertThat(yaml.profiles().get("batch").deadline()).isEqualTo(Duration.ofHours(1));
    assertThat(yaml.policy().name()).isEqualTo("session>linear_cost");
    assertThat(yaml.changes(json, true)).isEmpty();
    assertThat(yaml.changes(json, false)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "retry: {max_atempts: 2} | retry.max_atempts | did you mean retry.max_attempts",
        "max_attempts: 2 | max_attempts | retry.max_attempts",
        "polcy: pin | polcy | did you mean policy",
        "api-key: x | api-key | did you mean api_key",
        "zzzzqqqq: 1 | zzzzqqqq | use one of workers",
        "workers: [{url: 'https://a:1', tls: {certificate: c.pem}}] | workers[0] | certificate and"
            + " key",
        "policy: pin>nearest | policy | unknown policy 'nearest'",
        "workers: [{ulr: 'http://a:1'}] | workers[0].ulr | did you mean url",
        "workers: [{role: decode}] | workers[0].url | is missing",
        "workers: ['http://a:1;dp=x'] | workers[0] | not a whole number",
        "timeouts: {connect: 2} | timeouts.connect | with its unit",
        "index_bytes: 3 apples | index_bytes | 64MB",
        "retry: {max_attempts: 0} | retry.max_attempts | 1 or more",
        "health: {load_min: 9s} | health | loadMin must not exceed loadMax",
        "homing: {prefill: -1} | homing | must be 0 or more",
        "strict: perhaps | strict | prefill_decode.strict",
        "prefill_decode: {strict: perhaps} | prefill_decode.strict | true or false",
        "api_key: ${MISSING_KEY} | api_key | MISSING_KEY, which is not set",
        "api_key: ${file:/does/not/exist} | api_key | make it readable",
        "discovery: {dns: [{host: x, port: 70000}]} | discovery.dns[0].port | 65535",
        "discovery: {dns: [{host: x, port: 1}, {host: x, port: 1, scheme: https}]} | discovery |"
            + " twice",
        "discovery: {dns: [{host: x, port: 1, scheme: 'http://'}]} | discovery.dns[0].scheme |"
            + " such as http, https or grpc",
        "discovery: {kubernetes: [{namespace: a, service: b, scheme: 2nd}]} |"
            + " discovery.kubernetes[0].scheme | such as http, https or grpc",
        "knowledge: {nodes: {a: 'http://a:1', b: 'http://b:1'}, registry: {max_nodes: 1}} |"
            + " knowledge.registry | knowledge.nodes has 2",
        "retry: 5 | retry | an object of keys",
      })
  void aMistakeIsNamedWithItsFileItsKeyAndWhatToDo(String text, String key, String remedy) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("router.yaml: " + key + " ")
        .hasMessageContaining(remedy);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"api_key\": \"sk-planted-1234\", \"policy\": }",
        "api_key: sk-planted-1234\npolicy: [",
        "api_key: sk-planted-1234\nretry: {max_attempts: sk-planted-1234}",
        "api_key: {a: sk-planted-1234}",
        "workers: [{url: 'http://a:1', api_key: sk-planted-1234, dp: 3}]",
        "{\"api_key\": \"a\", \"api_key\": \"sk-planted-1234\"}",
      })
  void anErrorDoesNotShowASecret(String text) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("router.yaml: ")
        .hasMessageNotContaining(SECRET);
  }

  @Test
  void neitherHashNorTextShowASecretOrChangeWithIt() {
    RouterConfig one = parse("api_key: ${ENGINE_KEY}");
    RouterConfig other = parse("api_key: another");
    assertThat(one.hash()).isEqualTo(other.hash()).isNotEqualTo(RouterConfig.EMPTY.hash());
    assertThat(one.toString()).doesNotContain(SECRET);
    assertThat(one.changes(other, false)).containsExactly("api_key");
  }

  @Test
  void referencesAreResolvedAndDollarsEscape(@TempDir Path dir) throws IOException {
    Path key = dir.resolve("key");
    Files.writeString(key, "from-file\n");
    RouterConfig config =
        parse(
            "api_key: ${file:"
                + key
                + "}\nworkers: [{url: 'http://a:1', labels: {x: 'a$${b}${ENGINE_KEY}'}}]");
    assertThat(config.apiKey()).isEqualTo(Secret.of("from-file"));
    assertThat(config.workers().get(0).labels()).isEqualTo(Map.of("x", "a${b}" + SECRET));
  }

  @Test
  void changesAreToldApartByWhatARunningClientTakes() {
    RouterConfig before = parse("{}");
    RouterConfig after =
        parse("{\"policy\": \"pin\", \"index_bytes\": 1, \"workers\": [\"http://a:1\"]}");
    assertThat(before.changes(after, false)).isEqualTo(List.of("workers", "policy"));
    assertThat(before.changes(after, true)).isEqualTo(List.of("index_bytes"));
    assertThat(after.withoutWorkers().workers()).isEmpty();
  }

  @Test
  void degradationIsReadModeByMode() {
    DegradationSettings read =
        parse(
                """
                health:
                  degradation:
                    hold: 5s
                    kv_full: {enter: 0.99, share: 0.1}
                    latency: {enabled: false}
                """)
            .health()
            .degradation();
    assertThat(read)
        .isEqualTo(
            DegradationSettings.builder()
                .hold(Duration.ofSeconds(5))
                .rule(DegradationMode.KV_FULL, new DegradationSettings.Rule(0.99, 0.9, 3, 0.1))
                .without(DegradationMode.LATENCY)
                .build());
    assertThat(parse("deadline: 1m").health()).isEqualTo(HealthSettings.DEFAULT);
    assertThatThrownBy(() -> parse("health: {degradation: {stale: {enter: 0.1}}}"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("leave 0.5 must be below enter 0.1");
  }

  @Test
  void knowledgeRoutingHasItsOriginalsDefaultsAndEveryKeySaysSomething() {
    assertThat(RouterConfig.EMPTY.knowledge()).isEqualTo(KnowledgeSettings.DEFAULT);
    assertThat(RouterConfig.EMPTY.knowledgeDecisionsAtInfo()).isFalse();

    RouterConfig config =
        RouterConfig.parse(
            """
            {"knowledge": {"order": "load_first", "window": "in_flight",
              "overload": {"qps_1m": 1.5, "items": 2, "pending_transfers": 3,
                "active_transfers": 4, "queue_ms": 5.5},
              "load_ratio_delta": 0.2, "in_flight_delta": 6, "gpu_delta": 7,
              "affinity_decay": 0.8, "affinity_top_k": 9, "strict_reference": true,
              "decisions_at_info": true}}
            """,
            "a.json");

    assertThat(config.knowledge())
        .isEqualTo(
            new KnowledgeSettings(
                StageOrder.LOAD_FIRST,
                LoadWindow.IN_FLIGHT,
                new OverloadThresholds(1.5, 2, 3, 4, 5.5),
                0.2,
                6,
                7,
                0.8,
                9,
                true));
    assertThat(config.knowledgeDecisionsAtInfo()).isTrue();
    assertThatThrownBy(() -> RouterConfig.parse("{\"knowledge\":{\"order\":\"x\"}}", "a.json"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("'x' must be documented or load_first");
    assertThatThrownBy(() -> RouterConfig.parse("{\"knowledge\":{\"affinity_decay\":1}}", "a.json"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("knowledge")
        .hasMessageContaining("affinityDecay=1.0");
  }

  @Test
  void aPartWithoutItsModuleIsNamedWithWhatToAdd() {
    Place place = new Place("router.yaml", "transports");
    assertThatThrownBy(() -> Parts.made(place, Parts.GRPC, maker -> null))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "router.yaml: transports takes dev.warmpath:warmpath-grpc on the class path: add it");
  }

  @Test
  void aMissingFileIsNamed(@TempDir Path dir) {
    assertThatThrownBy(() -> RouterConfig.read(dir.resolve("no.yaml")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("no.yaml: is not there");
  }

  @Test
  void theReferenceIsThatOfTheTable() throws IOException {
    Path page = Path.of("CONFIGURATION.md");
    String made = ConfigReference.markdown();
    if (Boolean.getBoolean("warmpath.write-reference")) {
      Files.writeString(page, made);
    }
    assertThat(Files.readString(page))
        .as("run this test with -Dwarmpath.write-reference=true to write the page anew")
        .isEqualTo(made);
  }
}
