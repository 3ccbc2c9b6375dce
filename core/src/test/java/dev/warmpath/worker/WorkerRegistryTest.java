package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class WorkerRegistryTest {
  private static final String A = "http://a:1";
  private static final String B = "http://b:1";

  private final WorkerRegistry registry = new WorkerRegistry();

  private static WorkerSpec spec(String address) {
    return WorkerSpec.builder(address).build();
  }

  private static WorkerCapabilities dp(int ranks) {
    return new WorkerCapabilities(
        EngineKind.SGLANG, null, null, List.of(), ranks, null, null, null, null);
  }

  private Worker worker(String address) {
    return Objects.requireNonNull(registry.current().worker(WorkerId.parse(address)));
  }

  private boolean has(String address) {
    return registry.current().worker(WorkerId.parse(address)) != null;
  }

  @Test
  void sourcesListTheirOwn() {
    registry.replace("dns", List.of(spec(A), spec(B)));
    registry.replace("file", List.of(spec(B)));
    registry.replace("dns", List.of());
    assertThat(has(A)).isFalse();
    assertThat(has(B)).isTrue();
    registry.replace("file", List.of());
    assertThat(registry.current().workers()).isEmpty();
  }

  @Test
  void aRemovedWorkerStaysAwayUntilItIsAdded() {
    registry.replace("dns", List.of(spec(A)));
    assertThat(registry.remove(WorkerId.parse(A))).isTrue();
    assertThat(registry.remove(WorkerId.parse(A))).isFalse();
    registry.replace("dns", List.of(spec(A), spec(B)));
    assertThat(has(A)).isFalse();
    registry.add(spec(A));
    assertThat(has(A)).isTrue();
    registry.replace("dns", List.of());
    assertThat(has(A)).isTrue();
  }

  @Test
  void whatIsSaidAtRunTimeWins() {
    registry.add(spec(A).toBuilder().role(WorkerRole.PREFILL).build());
    registry.replace("dns", List.of(spec(A).toBuilder().role(WorkerRole.DECODE).build()));
    assertThat(worker(A).role()).isEqualTo(WorkerRole.PREFILL);
  }

  @Test
  void nothingNewIsNoNewVersion() {
    registry.replace("dns", List.of(spec(A)));
    registry.drain(WorkerId.parse(A), true);
    Worker before = worker(A);
    registry.discovered(before.id(), before.epoch(), dp(2));
    long version = registry.current().version();
    registry.replace("dns", List.of(spec(A)));
    registry.add(spec(A));
    registry.drain(WorkerId.parse(A), true);
    registry.drain(WorkerId.parse(B), true);
    registry.remove(WorkerId.parse(B));
    registry.discovered(worker(A).id(), worker(A).epoch(), dp(2));
    registry.discovered(worker(A).id(), before.epoch(), dp(3));
    registry.restarted(worker(A).id(), before.epoch());
    assertThat(registry.current().version()).isEqualTo(version);
  }

  @Test
  void drainingIsAStateThatRestartsKeep() {
    registry.add(spec(A));
    assertThat(registry.drain(WorkerId.parse(A), true)).isTrue();
    assertThat(worker(A).state()).isEqualTo(WorkerState.DRAINING);
    assertThat(registry.current().candidates(null, WorkerRole.REGULAR).isEmpty()).isTrue();
    registry.restarted(worker(A).id(), worker(A).epoch());
    assertThat(worker(A).state()).isEqualTo(WorkerState.DRAINING);
    registry.drain(WorkerId.parse(A), false);
    assertThat(worker(A).state()).isEqualTo(WorkerState.ACTIVE);
  }

  @Test
  void aRestartIsANewEpochWithNewSlots() {
    registry.add(spec(A));
    registry.add(spec(B));
    Worker before = worker(A);
    registry.discovered(before.id(), before.epoch(), dp(1));
    assertThat(worker(A).epoch()).isEqualTo(before.epoch());
    assertThat(registry.restarted(before.id(), before.epoch(), dp(1))).isTrue();
    Worker after = worker(A);
    assertThat(after.epoch()).isGreaterThan(worker(B).epoch());
    assertThat(after.ranks().get(0).slot()).isNotEqualTo(before.ranks().get(0).slot());
    assertThat(after.capabilities()).isEqualTo(dp(1));
    registry.restarted(after.id(), after.epoch());
    assertThat(worker(A).capabilities()).isEqualTo(WorkerCapabilities.UNKNOWN);
  }

  @Test
  void anotherNumberOfRanksIsANewEpoch() {
    registry.add(spec(A));
    Worker before = worker(A);
    assertThat(before.ranks()).hasSize(1);
    assertThat(before.ranks().get(0).rank()).isEmpty();
    registry.discovered(before.id(), before.epoch(), dp(3));
    Worker after = worker(A);
    assertThat(after.epoch()).isGreaterThan(before.epoch());
    assertThat(after.ranks().stream().map(rank -> rank.rank().orElseThrow()))
        .containsExactly(0, 1, 2);
    registry.add(spec(A).toBuilder().dpSize(2).build());
    assertThat(worker(A).ranks()).hasSize(2);
    assertThat(worker(A).epoch()).isGreaterThan(after.epoch());
  }

  @Test
  void aWorkersWordIsTakenWithinReason() {
    registry.add(spec(A));
    for (int wild : new int[] {-1, 0, WorkerSpec.MAX_DP_SIZE + 1, Integer.MAX_VALUE}) {
      registry.discovered(worker(A).id(), worker(A).epoch(), dp(wild));
      assertThat(worker(A).ranks()).hasSize(1);
    }
  }

  @Test
  void aListenerHearsThePresentAndThenEveryChange() {
    registry.add(spec(A));
    List<String> heard = new ArrayList<>();
    WorkerRegistry.Listener listener =
        (before, after) -> heard.add(before.version() + ">" + after.version());
    registry.subscribe(listener);
    registry.add(spec(B));
    registry.remove(WorkerId.parse(A));
    registry.unsubscribe(listener);
    registry.add(spec(A));
    assertThat(heard).containsExactly("0>1", "1>2", "2>3");
  }

  @Test
  void listenersThatChangeTheRegistryKeepTheOrderForAll() {
    List<String> first = new ArrayList<>();
    List<String> last = new ArrayList<>();
    registry.subscribe(
        (before, after) -> {
          first.add(before.version() + ">" + after.version());
          if (after.version() < 5) {
            registry.add(spec("http://w" + after.version() + ":1"));
          }
        });
    registry.subscribe((before, after) -> last.add(before.version() + ">" + after.version()));
    registry.add(spec(A));
    assertThat(first).startsWith("0>0", "0>1", "1>2");
    assertThat(last).first().isEqualTo("0>5");
    assertThat(last).last().isEqualTo("5>6");
    assertThat(registry.current().version()).isEqualTo(6);
  }

  @Test
  void aListenerThatSubscribesAnotherDoesNotMakeItHearTwice() {
    List<String> heard = new ArrayList<>();
    boolean[] done = new boolean[1];
    registry.subscribe(
        (before, after) -> {
          if (after.version() == 1 && !done[0]) {
            done[0] = true;
            registry.add(spec(B));
            registry.subscribe((b, a) -> heard.add(b.version() + ">" + a.version()));
          }
        });
    registry.add(spec(A));
    assertThat(heard).containsExactly("0>1", "1>2");
  }

  @Test
  void aListenerThatThrowsHurtsNobody() {
    List<Long> heard = new ArrayList<>();
    registry.subscribe(
        (before, after) -> {
          throw new IllegalStateException("a bug in the listener");
        });
    registry.subscribe((before, after) -> heard.add(after.version()));
    registry.add(spec(A));
    assertThat(heard).containsExactly(0L, 1L);
  }

  @Test
  void subscribingWhileOthersChangeMissesAndRepeatsNothing() throws Exception {
    int changes = 2_000;
    CountDownLatch started = new CountDownLatch(1);
    Thread changer =
        new Thread(
            () -> {
              for (int i = 0; i < changes; i++) {
                registry.drain(WorkerId.parse(A), i % 2 == 0);
                started.countDown();
              }
            });
    registry.add(spec(A));
    changer.start();
    started.await();
    List<List<Long>> heard = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      List<Long> one = new ArrayList<>();
      heard.add(one);
      registry.subscribe(
          (before, after) -> {
            if (!one.isEmpty()) {
              assertThat(before.version()).isEqualTo(one.get(one.size() - 1));
            }
            one.add(after.version());
          });
    }
    changer.join();
    assertThat(heard)
        .allSatisfy(
            versions -> {
              long from = versions.get(0);
              for (int i = 0; i < versions.size(); i++) {
                assertThat(versions.get(i)).isEqualTo(from + i);
              }
              assertThat(versions).last().isEqualTo(registry.current().version());
            });
  }
}
