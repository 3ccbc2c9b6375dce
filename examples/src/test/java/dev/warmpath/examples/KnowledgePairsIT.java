package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.kdn.FakeKdn;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.okhttp.OkHttpKnowledgeTransport;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where prefill and decode are apart, KV is put in place at the worker that prefills. */
@Timeout(120)
class KnowledgePairsIT {
  private static final String MODEL = "m";
  private static final String LONG = "what only the node knows. ".repeat(200).strip();
  private static final Duration PATIENT = Duration.ofSeconds(60);

  private static RouterClient client(FakeFleet fleet, FakeKdn kdn) {
    KnowledgeRouting routing =
        KnowledgeRouting.builder()
            .transport(OkHttpKnowledgeTransport.create())
            .node("a", URI.create(kdn.url()))
            .injection(
                InjectionSettings.builder()
                    .way(KnowledgeInjection.KV)
                    .textTimeout(PATIENT)
                    .kvTimeout(PATIENT)
                    .build())
            .build();
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .policy(Policies.knowledge())
            .prefillPolicy(Policies.knowledge())
            .knowledge(routing);
    for (FakeEngine engine : fleet.engines()) {
      boolean prefill = engine.role() == WorkerRole.PREFILL;
      builder.worker(engine.workerSpec() + (prefill ? ";knowledge-inject=" + engine.url() : ""));
    }
    RouterClient client = builder.build();
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    await().atMost(PATIENT).until(() -> routing.registry().catalogue().size() == 1);
    return client;
  }

  private static RouterRequest request(String fields) {
    return RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
        .body(
            "{\"model\":\"m\",\"max_tokens\":2"
                + fields
                + ",\"messages\":[{\"role\":\"user\",\"content\":\"why?\"}]}")
        .knowledge(KnowledgeNeeds.texts(LONG))
        .build();
  }

  @ParameterizedTest
  @CsvSource({"SGLANG,''", "SGLANG,',\"n\":2'", "VLLM,''", "VLLM,',\"n\":2'"})
  void kvIsPutInPlaceAtPrefillOnce(EngineKind kind, String fields) {
    try (FakeFleet fleet =
            FakeFleet.start(
                "1p1d", engine -> engine.kind(kind).model(MODEL).timing(LatencyModel.instant()));
        FakeKdn kdn = FakeKdn.builder().id("a").speedup(1_000).ready(LONG, MODEL).start();
        RouterClient router = client(fleet, kdn)) {
      RouterResponse first = router.send(request(fields));
      RouterResponse second = router.send(request(fields));

      for (RouterResponse response : List.of(first, second)) {
        assertThat(response.status()).as(response.text()).isEqualTo(200);
      }
      KnowledgeInfo info = first.decision().knowledge();
      assertThat(info.injected()).isEqualTo("kv");
      assertThat(info.transferredBytes()).isEqualTo(kdn.stats().kvBytes()).isPositive();
      assertThat(second.decision().knowledge().kv()).isEqualTo("the worker was given it lately");
      assertThat(kdn.stats().transfers()).isEqualTo(1);
      FakeEngine prefill =
          fleet.engines().stream()
              .filter(engine -> engine.role() == WorkerRole.PREFILL)
              .findFirst()
              .orElseThrow();
      assertThat(prefill.stats().cachedTokens()).isGreaterThanOrEqualTo(2 * 256);
    }
  }
}
