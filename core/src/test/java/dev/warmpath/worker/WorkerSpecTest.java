package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerSpecTest {
  @Test
  void theOneLineFormSaysEverythingButKeys() {
    WorkerSpec spec =
        WorkerSpec.parse(
            "http://a:1;role=prefill; Engine = vllm ;dp=4;block=16;kv-tokens=100000"
                + ";model=m;model=n;zone=east");
    assertThat(spec.id()).hasToString("http://a:1");
    assertThat(spec.role()).isEqualTo(WorkerRole.PREFILL);
    assertThat(spec.engine()).isEqualTo(EngineKind.VLLM);
    assertThat(spec.dpSize()).isEqualTo(4);
    assertThat(spec.blockSize()).isEqualTo(16);
    assertThat(spec.kvCapacityTokens()).isEqualTo(100_000);
    assertThat(spec.models()).containsExactly("m", "n");
    assertThat(spec.labels()).containsExactly(java.util.Map.entry("zone", "east"));
    assertThat(spec.apiKey()).isNull();
    assertThat(spec.toBuilder().build()).isEqualTo(spec).hasSameHashCodeAs(spec);
  }

  @ParameterizedTest
  @CsvSource({
    "http://a:1;dp, is not key=value",
    "http://a:1;=3, is not key=value",
    "http://a:1;dp=many, not a whole number",
    "http://a:1;dp=0, must be at least 1",
    "http://a:1;dp=2000, use 1 to 1024",
    "http://a:1;block=-1, must be at least 1",
    "http://a:1;role=cook, use one of regular",
    "http://a:1;engine=steam, use one of sglang",
  })
  void whatIsWrongIsSaid(String line, String message) {
    assertThatThrownBy(() -> WorkerSpec.parse(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void theBuilderRefusesNonsense() {
    WorkerSpec.Builder builder = WorkerSpec.builder("http://a:1");
    assertThatThrownBy(() -> builder.dpSize(0)).hasMessageContaining("http://a:1");
    assertThatThrownBy(() -> builder.blockSize(0)).hasMessageContaining("block");
    assertThatThrownBy(() -> builder.kvCapacityTokens(0)).hasMessageContaining("KV");
  }

  @Test
  void everyFieldCountsForEquality() {
    WorkerSpec base = WorkerSpec.builder("http://a:1").build();
    List<WorkerSpec> others =
        List.of(
            WorkerSpec.builder("http://b:1").build(),
            base.toBuilder().role(WorkerRole.DECODE).build(),
            base.toBuilder().engine(EngineKind.ATOM).build(),
            base.toBuilder().dpSize(2).build(),
            base.toBuilder().blockSize(2).build(),
            base.toBuilder().kvCapacityTokens(2).build(),
            base.toBuilder().models(List.of("m")).build(),
            base.toBuilder().apiKey(Secret.of("k")).build(),
            base.toBuilder().adminKey(Secret.of("k")).build(),
            base.toBuilder().label("k", "v").build());
    assertThat(others).doesNotContain(base).doesNotHaveDuplicates();
    assertThat(others).allSatisfy(o -> assertThat(o.toBuilder().build()).isEqualTo(o));
  }

  @Test
  void keysDoNotShow() {
    WorkerSpec spec =
        WorkerSpec.builder("http://a:1")
            .apiKey(Secret.of("sesame"))
            .adminKey(Secret.of("sesame"))
            .build();
    assertThat(spec.toString() + spec.apiKey() + spec.adminKey()).doesNotContain("sesame");
    assertThat(java.util.Objects.requireNonNull(spec.apiKey()).reveal()).isEqualTo("sesame");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://a:1",
        "http://a:1;role=prefill;engine=vllm;dp=2;block=16;kv-tokens=1000;model=m;model=n",
        "grpc://[::1]:9;engine=atom;hash=atom;hash-seed=7;dcp=2;eagle=true;mm-keys=bare;zone=west",
      })
  void theOneLineFormReadsBack(String line) {
    WorkerSpec spec = WorkerSpec.parse(line);
    assertThat(spec.line()).isEqualTo(line);
    WorkerSpec keyed =
        spec.toBuilder().apiKey(Secret.of("sk-1")).adminKey(Secret.of("sk-2")).build();
    assertThat(keyed.line()).as("keys stay here").isEqualTo(line);
  }

  @Test
  void whatHasNoOneLineFormSaysSo() {
    assertThat(WorkerSpec.builder("http://a:1").label("note", "a;b").build().line()).isNull();
    assertThat(WorkerSpec.builder("http://a:1").label("note", "a\nb").build().line()).isNull();
  }
}
