package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class TopologyTest {
  private final WorkerRegistry registry = new WorkerRegistry();

  private Worker add(String address, ServedModel... models) {
    registry.add(WorkerSpec.builder(address).build());
    return discover(address, EngineKind.VLLM, models);
  }

  private Worker discover(String address, EngineKind engine, ServedModel... models) {
    Worker worker = worker(address);
    registry.discovered(
        worker.id(),
        worker.epoch(),
        new WorkerCapabilities(engine, null, null, List.of(models), null, null, null, null, null));
    return worker(address);
  }

  private Worker worker(String address) {
    return Objects.requireNonNull(registry.current().worker(WorkerId.parse(address)));
  }

  private List<String> candidates(String model) {
    return registry.current().candidates(model, WorkerRole.REGULAR).asList().stream()
        .map(WorkerRank::toString)
        .toList();
  }

  @Test
  void candidatesListTheModel() {
    add("http://a:1", ServedModel.named("m"));
    add("http://b:1", ServedModel.named("n"));
    registry.add(WorkerSpec.builder("http://c:1").build());
    assertThat(candidates("m")).containsExactly("http://a:1");
    assertThat(candidates("n")).containsExactly("http://b:1");
    assertThat(candidates("other"))
        .as("those that have not said yet")
        .containsExactly("http://c:1");
    assertThat(candidates(null)).hasSize(3);
  }

  @Test
  void configuredModelsWinOverDiscoveredOnes() {
    registry.add(WorkerSpec.builder("http://a:1").addModel("alias").build());
    discover("http://a:1", EngineKind.VLLM, ServedModel.named("m"));
    assertThat(candidates("alias")).hasSize(1);
    assertThat(candidates("m")).isEmpty();
  }

  @Test
  void rolesAndDrainingAreKeptApart() {
    registry.add(WorkerSpec.parse("http://a:1;role=prefill"));
    registry.add(WorkerSpec.parse("http://b:1;role=decode"));
    registry.add(WorkerSpec.parse("http://c:1"));
    registry.add(WorkerSpec.parse("http://d:1"));
    registry.drain(WorkerId.parse("http://d:1"), true);
    Topology topology = registry.current();
    assertThat(topology.candidates(null, WorkerRole.PREFILL)).hasToString("prefill[http://a:1]");
    assertThat(topology.candidates(null, WorkerRole.DECODE)).hasToString("decode[http://b:1]");
    assertThat(topology.candidates("m", WorkerRole.REGULAR)).hasToString("regular[http://c:1]");
    assertThat(topology.workers()).hasSize(4);
  }

  @Test
  void adaptersAreServedWhereTheyAreListed() {
    ServedModel base = ServedModel.named("base");
    ServedModel adapter = new ServedModel("lora", null, "base", null);
    add("http://a:1", base, adapter);
    add("http://b:1", base);
    assertThat(candidates("lora")).containsExactly("http://a:1");
    assertThat(candidates("base")).hasSize(2);
    // SGLang's base:adapter form.
    Worker lists = discover("http://a:1", EngineKind.SGLANG, base, adapter);
    assertThat(lists.serves("base:lora")).isEqualTo(Worker.Served.YES);
    assertThat(lists.serves("base:other")).isEqualTo(Worker.Served.NO);
    Worker silent = discover("http://b:1", EngineKind.SGLANG, base);
    assertThat(silent.serves("base:anything")).isEqualTo(Worker.Served.YES);
    assertThat(silent.serves("other:anything")).isEqualTo(Worker.Served.NO);
    assertThat(registry.current().models()).containsExactlyInAnyOrder(base, adapter);
  }

  @Test
  void equalSetsHaveEqualKeysInAnyOrder() {
    WorkerRegistry other = new WorkerRegistry();
    for (int i = 0; i < 5; i++) {
      registry.add(WorkerSpec.parse("http://w" + i + ":1;dp=2"));
      other.add(WorkerSpec.parse("http://w" + (4 - i) + ":1;dp=2"));
    }
    long key = registry.current().candidates(null, WorkerRole.REGULAR).key();
    assertThat(other.current().candidates("m", WorkerRole.REGULAR).key()).isEqualTo(key);
    registry.restarted(worker("http://w0:1").id(), worker("http://w0:1").epoch());
    assertThat(registry.current().candidates(null, WorkerRole.REGULAR).key()).isEqualTo(key);
    registry.remove(WorkerId.parse("http://w0:1"));
    assertThat(registry.current().candidates(null, WorkerRole.REGULAR).key()).isNotEqualTo(key);
    assertThat(other.current().candidates(null, WorkerRole.DECODE).key()).isNotEqualTo(key);
  }

  @Test
  void candidateSetsAreSharedAndTheirMemoryIsBounded() {
    add("http://a:1", ServedModel.named("m"));
    Topology topology = registry.current();
    CandidateSet set = topology.candidates("m", WorkerRole.REGULAR);
    for (int i = 0; i < 10_000; i++) {
      assertThat(topology.candidates("made up " + i, WorkerRole.REGULAR).isEmpty()).isTrue();
    }
    assertThat(topology.candidates("m", WorkerRole.REGULAR)).isSameAs(set);
    assertThat(topology.candidates(null, WorkerRole.REGULAR))
        .isSameAs(topology.candidates(null, WorkerRole.REGULAR));
    // Beyond the memory sets are made anew.
    assertThat(topology.candidates("made up 9999", WorkerRole.REGULAR))
        .isNotSameAs(topology.candidates("made up 9999", WorkerRole.REGULAR));
  }

  @Test
  void aCandidateIsFoundByNameAndRank() {
    registry.add(WorkerSpec.parse("http://a:1;dp=3"));
    registry.add(WorkerSpec.parse("http://b:1"));
    CandidateSet set = registry.current().candidates(null, WorkerRole.REGULAR);
    assertThat(set.size()).isEqualTo(4);
    assertThat(set.workers()).isEqualTo(2);
    assertThat(set.find(WorkerId.parse("http://a:1"), 2)).hasToString("http://a:1#2");
    assertThat(set.find(WorkerId.parse("http://a:1"), -1)).hasToString("http://a:1#0");
    assertThat(set.find(WorkerId.parse("http://a:1"), 3)).isNull();
    assertThat(set.find(WorkerId.parse("http://b:1"), -1)).hasToString("http://b:1");
    assertThat(set.find(WorkerId.parse("http://b:1"), 0)).as("absent is not rank 0").isNull();
  }

  @Test
  void whatIsNotSaidThisTimeStays() {
    WorkerCapabilities earlier =
        new WorkerCapabilities(
            EngineKind.SGLANG,
            "0.5",
            WorkerRole.PREFILL,
            List.of(ServedModel.named("m")),
            2,
            64,
            1_000L,
            8,
            true);
    assertThat(WorkerCapabilities.UNKNOWN.orElse(earlier)).isEqualTo(earlier);
    WorkerCapabilities later =
        new WorkerCapabilities(
            EngineKind.VLLM,
            "0.6",
            WorkerRole.DECODE,
            List.of(ServedModel.named("n")),
            4,
            16,
            2_000L,
            9,
            false);
    assertThat(later.orElse(earlier)).isEqualTo(later);
    assertThat(later.orElse(WorkerCapabilities.UNKNOWN)).isEqualTo(later);
  }
}
