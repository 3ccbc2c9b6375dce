package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.kdn.KnowledgeKv;
import dev.warmpath.fake.lab.KnowledgeStudy.Row;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.load.Workloads;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.knowledge.StageOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KnowledgeStudyTest {
  private static final String KNOWLEDGE = "knowledge";
  private static final Map<String, String> SET =
      Map.of("rate", "16", "duration", "15", "documents", "120");

  private static LabSettings.Builder fleet(KnowledgeInjection injection) {
    return LabSettings.builder()
        .fleet(FleetSpec.parse("8"))
        .clients(4)
        .core(CoreOptions.builder().numBlocks(4_096).build())
        .knowledge(LabKnowledge.DEFAULT.withInjection(injection));
  }

  private static Map<String, Row> run(KnowledgeInjection injection) {
    return KnowledgeStudy.run(
            fleet(injection),
            SET,
            List.of("round_robin", "cache_aware", KNOWLEDGE),
            List.of(1L, 2L))
        .stream()
        .collect(java.util.stream.Collectors.toMap(Row::policy, row -> row));
  }

  /** Each seed of one is better than each seed of the others. */
  @Tag("long")
  @Test
  void knowledgeIsQuickerAndSendsLessThanTheOthersWhereKvIsAlwaysSent() {
    Map<String, Row> rows = run(KnowledgeInjection.KV);
    Row knowledge = rows.get(KNOWLEDGE);
    for (String other : List.of("round_robin", "cache_aware")) {
      Row row = rows.get(other);
      assertThat(row.failed()).isZero();
      assertThat(knowledge.ttftMs().most()).as(other).isLessThan(row.ttftMs().least());
      assertThat(knowledge.gigabytes().most()).as(other).isLessThan(row.gigabytes().least());
    }
    assertThat(knowledge.failed()).isZero();
  }

  @Test
  void loadFirstSendsNobodyAwayEither() {
    List<TraceSession> sessions = Workloads.draw("knowledge", SET, 4);
    LabKnowledge usual = LabKnowledge.DEFAULT;
    LabKnowledge loadFirst =
        new LabKnowledge(
            usual.nodes(),
            usual.network(),
            usual.kv(),
            usual.nearMbps(),
            usual.nearMs(),
            usual.farMbps(),
            usual.farMs(),
            2,
            usual.heartbeatMs(),
            KnowledgeInjection.AUTO,
            StageOrder.LOAD_FIRST);
    LabResult result =
        Lab.run(fleet(KnowledgeInjection.AUTO).knowledge(loadFirst).build(), KNOWLEDGE, sessions);
    assertThat(result.load().failed()).isZero();
    assertThat(result.load().requests()).isPositive();
    assertThat(result.knowledge().transfers()).isPositive();
  }

  @Test
  void textSendsNothingAndKvIsNeverSentTwiceToWhomHasIt() {
    List<TraceSession> sessions = Workloads.draw("knowledge", SET, 3);
    LabResult text = Lab.run(fleet(KnowledgeInjection.TEXT).build(), "cache_aware", sessions);
    assertThat(text.knowledge().bytes()).isZero();
    assertThat(text.knowledge().transfers()).isZero();

    LabResult one =
        Lab.run(
            fleet(KnowledgeInjection.KV)
                .fleet(FleetSpec.parse("1"))
                .clients(1)
                .core(CoreOptions.builder().numBlocks(100_000).build())
                .build(),
            "round_robin",
            sessions);

    long documents =
        sessions.stream().map(session -> session.turns().get(0).program()).distinct().count();
    assertThat(one.knowledge().recomputed()).isZero();
    assertThat(one.knowledge().held() + one.knowledge().transfers())
        .isLessThanOrEqualTo(sessions.size());
    assertThat(one.knowledge().transfers()).isBetween(documents * 9 / 10, documents * 13 / 10);
    assertThat(one.load().failed()).isZero();
  }

  /** Whatever a policy expects of its choice, a client asks once for KV that stays where it is. */
  @ParameterizedTest
  @ValueSource(strings = {"homing", "knowledge>homing", KNOWLEDGE})
  void clientsDoNotAskForKvAgainThatIsThere(String policy) {
    List<TraceSession> sessions = Workloads.draw("knowledge", SET, 3);
    LabResult result =
        Lab.run(
            fleet(KnowledgeInjection.KV)
                .fleet(FleetSpec.parse("2"))
                .clients(1)
                .core(CoreOptions.builder().numBlocks(100_000).build())
                .build(),
            policy,
            sessions);

    LabTransfers knowledge = result.knowledge();
    assertThat(knowledge.transfers()).isPositive();
    assertThat(knowledge.held()).isGreaterThan(sessions.size() / 3);
    assertThat(knowledge.repeats()).isLessThan(sessions.size() / 20);
  }

  @Test
  void aSeedDecidesEverything() {
    List<TraceSession> sessions = Workloads.draw("knowledge", SET, 5);
    LabSettings settings = fleet(KnowledgeInjection.AUTO).seed(5).build();
    LabResult first = Lab.run(settings, KNOWLEDGE, sessions);
    LabResult second = Lab.run(settings, KNOWLEDGE, sessions);
    assertThat(second.knowledge()).isEqualTo(first.knowledge());
    assertThat(second.load().ttft()).isEqualTo(first.load().ttft());
  }

  @Test
  void knowledgeGoesToEnginesOnly() {
    LabSettings.Builder study = fleet(KnowledgeInjection.KV).model(WorkerModel.FLEET_STUDY);
    assertThatThrownBy(study::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("regular engines");
    assertThat(new KnowledgeKv(16, 10).bytes(50)).isEqualTo(480);
  }
}
