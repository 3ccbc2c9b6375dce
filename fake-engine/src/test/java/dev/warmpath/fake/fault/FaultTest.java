package dev.warmpath.fake.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FaultTest {
  @Test
  void parsesSeveralFaultsWithTheirKeys() {
    List<Fault> faults =
        Fault.parse("hang:after=10; 5xx:rate=0.25,status=503 ;429:retry-after=2,count=3,on=all");
    assertThat(faults).hasSize(3);
    assertThat(faults.get(0).kind()).isEqualTo(Fault.Kind.HANG);
    assertThat(faults.get(0).after()).isEqualTo(10);
    assertThat(faults.get(1).status()).isEqualTo(503);
    assertThat(faults.get(1).rate()).isEqualTo(0.25);
    assertThat(faults.get(1).covers(Scope.HEALTH)).isFalse();
    assertThat(faults.get(2).status()).isEqualTo(429);
    assertThat(faults.get(2).retryAfter()).isEqualTo(Duration.ofSeconds(2));
    assertThat(faults.get(2).count()).isEqualTo(3);
    assertThat(faults.get(2).covers(Scope.HEALTH)).isTrue();
  }

  @Test
  void parsesKeysOfSingleKinds() {
    assertThat(Fault.parse("reset:chunks=3").get(0).chunks()).isEqualTo(3);
    assertThat(Fault.parse("truncate").get(0).chunks()).isEqualTo(1);
    assertThat(Fault.parse("slow:factor=2.5").get(0).factor()).isEqualTo(2.5);
    assertThat(Fault.parse("slow:delay=150ms").get(0).delay()).isEqualTo(Duration.ofMillis(150));
    assertThat(Fault.parse("slow:delay=2s").get(0).delay()).isEqualTo(Duration.ofSeconds(2));
    assertThat(Fault.parse("5xx:on=health").get(0).covers(Scope.GENERATE)).isFalse();
    assertThat(Fault.parse("restart").get(0).count()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(value = Fault.Kind.class, mode = EnumSource.Mode.EXCLUDE, names = "STATUS")
  void everyKindHasAName(Fault.Kind kind) {
    assertThat(Fault.parse(kind.name().toLowerCase(Locale.ROOT)).get(0).kind()).isEqualTo(kind);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ; ",
        "explode",
        "399",
        "hang:after",
        "hang:after=x",
        "hang:after=-1",
        "hang:status=500",
        "reset:factor=2",
        "slow:factor=0",
        "slow:delay=5",
        "5xx:rate=1.5",
        "5xx:status=200",
        "5xx:on=moon",
        "hang:count=0"
      })
  void refusesWhatItDoesNotUnderstand(String spec) {
    assertThatThrownBy(() -> Fault.parse(spec))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("fault '.*': .+|empty fault spec");
  }

  @Test
  void copiesLeaveTheOriginalAlone() {
    Fault original = Fault.reset(2);
    Fault changed = original.after(1).times(2).rate(0.5).on(Scope.LOAD);
    assertThat(original.after()).isZero();
    assertThat(original.rate()).isEqualTo(1);
    assertThat(original.covers(Scope.GENERATE)).isTrue();
    assertThat(changed.chunks()).isEqualTo(2);
    assertThat(changed.covers(Scope.GENERATE)).isFalse();
  }
}
