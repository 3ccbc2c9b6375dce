package dev.warmpath.fake.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FaultsTest {
  private final AtomicInteger changes = new AtomicInteger();
  private final Faults faults = new Faults(1, changes::incrementAndGet);

  private long hits(Faults of, int requests) {
    return IntStream.range(0, requests).filter(i -> of.decide(Scope.GENERATE) != null).count();
  }

  @Test
  void letsTheFirstOnesPassAndStopsAfterItsCount() {
    faults.add(Fault.status(500).after(2).times(3));
    boolean[] hit = new boolean[8];
    for (int i = 0; i < hit.length; i++) {
      hit[i] = faults.decide(Scope.GENERATE) != null;
    }
    assertThat(hit).containsExactly(false, false, true, true, true, false, false, false);
    assertThat(faults.fired(Fault.Kind.STATUS)).isEqualTo(3);
  }

  @Test
  void otherScopesAreNeitherHitNorCounted() {
    faults.add("5xx:after=1");
    assertThat(faults.decide(Scope.HEALTH)).isNull();
    assertThat(faults.decide(Scope.GENERATE)).isNull();
    assertThat(faults.decide(Scope.HEALTH)).isNull();
    assertThat(faults.decide(Scope.GENERATE)).isNotNull();
  }

  @Test
  void ratesAreSeeded() {
    faults.add("5xx:rate=0.25");
    Faults again = new Faults(1, () -> {});
    again.add("5xx:rate=0.25");
    long hits = hits(faults, 4000);
    assertThat(hits).isEqualTo(hits(again, 4000)).isBetween(900L, 1100L);
  }

  @Test
  void firstArmedFaultThatFiresIsTheOne() {
    faults.add("hang:count=1;reset");
    assertThat(faults.decide(Scope.GENERATE)).extracting(Fault::kind).isEqualTo(Fault.Kind.HANG);
    assertThat(faults.decide(Scope.GENERATE)).extracting(Fault::kind).isEqualTo(Fault.Kind.RESET);
  }

  @Test
  void conditionsAreStatesAndDoNotHitRequests() {
    faults.add("refuse;freeze;zombie;slow:factor=2;slow:factor=3");
    assertThat(faults.decide(Scope.GENERATE)).isNull();
    assertThat(faults.isOn(Fault.Kind.REFUSE)).isTrue();
    assertThat(faults.isOn(Fault.Kind.FREEZE)).isTrue();
    assertThat(faults.isOn(Fault.Kind.ZOMBIE)).isTrue();
    assertThat(faults.slowdown()).isEqualTo(6);
    faults.clear();
    assertThat(faults.isOn(Fault.Kind.REFUSE)).isFalse();
    assertThat(faults.slowdown()).isEqualTo(1);
    assertThat(changes).hasValue(2);
  }

  @Test
  void refusalThatARequestTriggersLastsUntilCleared() {
    faults.add("refuse:after=1");
    assertThat(faults.decide(Scope.GENERATE)).isNull();
    assertThat(faults.isOn(Fault.Kind.REFUSE)).isFalse();
    assertThat(faults.decide(Scope.GENERATE)).isNotNull();
    assertThat(faults.isOn(Fault.Kind.REFUSE)).isTrue();
    faults.clear();
    assertThat(faults.isOn(Fault.Kind.REFUSE)).isFalse();
  }
}
