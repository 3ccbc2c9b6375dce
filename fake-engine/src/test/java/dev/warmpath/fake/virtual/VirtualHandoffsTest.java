package dev.warmpath.fake.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.handoff.HandoffStage;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankObserver;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.ForwardPassMetrics;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VirtualHandoffsTest {

  /** An engine, and the order that goes with it. */
  private enum Engine {
    VLLM(HandoffOrder.SOURCE_FIRST),
    SGLANG(HandoffOrder.DESTINATION_FIRST);

    private final HandoffOrder order;

    Engine(HandoffOrder order) {
      this.order = order;
    }

    EngineCore core(CoreOptions options) {
      return this == VLLM
          ? new VllmCore(options, LatencyModel.polynomial())
          : new SglangCore(
              SglangOptions.builder(options).chunkedPrefillSize(64).build(),
              LatencyModel.polynomial());
    }
  }

  /** One worker of each role and what it shows. */
  private static final class Pair {
    final VirtualTime time = new VirtualTime();
    final List<ForwardPassMetrics> sourcePasses = new ArrayList<>();
    final List<ForwardPassMetrics> destinationPasses = new ArrayList<>();
    final EngineCore sourceCore;
    final EngineCore destinationCore;
    final VirtualRank source;
    final VirtualRank destination;
    final VirtualHandoffs handoffs;

    Pair(Engine engine, int destinationBlocks, int commandCapacity) {
      CoreOptions.Builder options =
          CoreOptions.builder()
              .blockSize(4)
              .maxNumBatchedTokens(64)
              .transfer(new KvTransfer(1_000_000, 16));
      sourceCore = engine.core(options.numBlocks(128).role(WorkerRole.PREFILL).build());
      destinationCore =
          engine.core(options.numBlocks(destinationBlocks).role(WorkerRole.DECODE).build());
      source =
          new VirtualRank(
              time, new RankSettings(0, true, commandCapacity, passesTo(sourcePasses)), sourceCore);
      destination =
          new VirtualRank(
              time,
              new RankSettings(0, true, commandCapacity, passesTo(destinationPasses)),
              destinationCore);
      handoffs = new VirtualHandoffs(time, HandoffSettings.of(engine.order));
    }

    private static RankObserver passesTo(List<ForwardPassMetrics> passes) {
      return new RankObserver() {
        @Override
        public void forwardPass(int dpRank, double timeMs, ForwardPassMetrics metrics) {
          passes.add(metrics);
        }
      };
    }

    Watch start(long requestId, int prompt, int output) {
      Watch watch = new Watch(time);
      int[] tokens = IntStream.range(0, prompt).map(i -> (int) requestId * 1_000 + i).toArray();
      watch.id =
          handoffs.start(
              new Handoff(
                  source,
                  new EngineRequest(requestId, tokens, new int[1], 0),
                  watch.source,
                  destination,
                  new EngineRequest(requestId, tokens, new int[output], 0),
                  watch.destination,
                  stage -> watch.stages.put(stage, time.nowMs())));
      return watch;
    }

    void assertDrained() {
      assertThat(handoffs.underWay()).isZero();
      assertThat(sourceCore.isDrained()).isTrue();
      assertThat(destinationCore.isDrained()).isTrue();
      assertThat(sourceCore.metrics().activeBlocks()).isZero();
      assertThat(destinationCore.metrics().activeBlocks()).isZero();
    }
  }

  /** What is heard of one handoff. */
  private static final class Watch {
    final Map<HandoffStage, Double> stages = new LinkedHashMap<>();
    final Tokens source;
    final Tokens destination;
    long id;

    Watch(VirtualTime time) {
      source = new Tokens(time);
      destination = new Tokens(time);
    }

    List<HandoffStage> order() {
      return List.copyOf(stages.keySet());
    }
  }

  private static final class Tokens implements RankListener {
    private final VirtualTime time;
    final List<Double> times = new ArrayList<>();
    @Nullable FinishReason finish;

    Tokens(VirtualTime time) {
      this.time = time;
    }

    @Override
    public void admitted(int reusedTokens) {}

    @Override
    public void output(int tokens, @Nullable FinishReason reason) {
      assertThat(finish).as("nothing follows the end").isNull();
      for (int i = 0; i < tokens; i++) {
        times.add(time.nowMs());
      }
      finish = reason;
    }
  }

  /** Vector V30: the order per engine, with a source that computes its prompt in chunks. */
  @ParameterizedTest
  @EnumSource(Engine.class)
  void handoffTakesItsEnginesOrder(Engine engine) {
    Pair pair = new Pair(engine, 128, 16);

    Watch watch = pair.start(1, 192, 2);
    pair.time.runUntilIdle();

    List<HandoffStage> first =
        engine == Engine.VLLM
            ? List.of(
                HandoffStage.SOURCE_HELD,
                HandoffStage.DESTINATION_ACCEPTED,
                HandoffStage.DESTINATION_RESERVED)
            : List.of(
                HandoffStage.DESTINATION_ACCEPTED,
                HandoffStage.DESTINATION_RESERVED,
                HandoffStage.SOURCE_HELD);
    List<HandoffStage> expected = new ArrayList<>(first);
    expected.add(HandoffStage.DESTINATION_ACTIVATED);
    expected.add(HandoffStage.SOURCE_RELEASED);
    expected.add(HandoffStage.COMPLETED);
    assertThat(watch.order()).isEqualTo(expected);
    assertThat(watch.source.times).hasSize(1);
    assertThat(watch.destination.times).hasSize(2);
    assertThat(watch.destination.finish).isEqualTo(FinishReason.COMPLETED);
    List<Integer> chunks =
        pair.sourcePasses.stream()
            .map(ForwardPassMetrics::prefillTokens)
            .filter(tokens -> tokens > 0)
            .toList();
    assertThat(chunks).hasSizeGreaterThanOrEqualTo(3);
    assertThat(chunks.stream().mapToInt(tokens -> tokens).sum()).isEqualTo(192);
    assertThat(pair.destinationPasses)
        .isNotEmpty()
        .allSatisfy(pass -> assertThat(pass.prefillTokens()).isZero());
    double ready =
        Math.max(
            watch.stages.get(HandoffStage.SOURCE_HELD),
            watch.stages.get(HandoffStage.DESTINATION_RESERVED));
    assertThat(watch.stages.get(HandoffStage.DESTINATION_ACTIVATED))
        .isEqualTo(ready + 12, within(1e-9));
    assertThat(watch.destination.times.get(0))
        .isGreaterThan(watch.stages.get(HandoffStage.DESTINATION_ACTIVATED));
    pair.assertDrained();
  }

  @ParameterizedTest
  @EnumSource(Engine.class)
  void handoffsTakeTurnsAtADestinationWithRoomForOne(Engine engine) {
    Pair pair = new Pair(engine, 20, 16);

    List<Watch> watches = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      watches.add(pair.start(i, 48, 3));
    }
    pair.time.runUntilIdle();

    double before = 0;
    for (Watch watch : watches) {
      assertThat(watch.order()).endsWith(HandoffStage.COMPLETED);
      assertThat(watch.destination.finish).isEqualTo(FinishReason.COMPLETED);
      assertThat(watch.stages.get(HandoffStage.DESTINATION_RESERVED))
          .isGreaterThanOrEqualTo(before);
      before = watch.destination.times.get(2);
    }
    pair.assertDrained();
  }

  @ParameterizedTest
  @EnumSource(Engine.class)
  void commandsWithoutRoomAreOfferedAgain(Engine engine) {
    Pair pair = new Pair(engine, 128, 1);

    List<Watch> watches = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      watches.add(pair.start(i, 48, 3));
    }
    pair.time.runUntilIdle();

    assertThat(watches)
        .allSatisfy(watch -> assertThat(watch.order()).endsWith(HandoffStage.COMPLETED));
    pair.assertDrained();
  }

  /** Cancels after each single event of a handoff's life, with another one beside it. */
  @ParameterizedTest
  @EnumSource(Engine.class)
  void handoffCancelledAtAnyMomentDrains(Engine engine) {
    boolean completed = false;
    for (int events = 0; !completed; events++) {
      Pair pair = new Pair(engine, 40, 16);
      Watch cancelled = pair.start(1, 100, 3);
      Watch other = pair.start(2, 60, 3);
      for (int i = 0; i < events; i++) {
        pair.time.step();
      }
      completed = cancelled.order().contains(HandoffStage.COMPLETED);
      pair.handoffs.cancel(cancelled.id);
      pair.time.runUntilIdle();

      assertThat(cancelled.order())
          .as("cancelled after %d events", events)
          .endsWith(completed ? HandoffStage.COMPLETED : HandoffStage.CANCELED);
      assertThat(cancelled.destination.finish == FinishReason.COMPLETED).isEqualTo(completed);
      assertThat(other.order()).endsWith(HandoffStage.COMPLETED);
      assertThat(other.destination.times).hasSize(3);
      pair.assertDrained();
    }
  }

  @ParameterizedTest
  @EnumSource(Engine.class)
  void handoffThatFindsNoRoomTimesOut(Engine engine) {
    Pair pair = new Pair(engine, 20, 16);
    // a destination that is reserved and never activated keeps its blocks
    pair.destination.apply(
        new EngineCommand.ReserveDestination(99, new EngineRequest(99, new int[64], new int[1], 0)),
        result -> {});
    pair.time.runUntil(1);
    Watch watch = pair.start(1, 48, 3);

    pair.time.runUntil(300_000.5);
    assertThat(watch.order()).doesNotContain(HandoffStage.CANCELED);
    pair.time.runUntilIdle();

    assertThat(watch.stages.get(HandoffStage.CANCELED)).isEqualTo(300_001);
    assertThat(watch.destination.finish).isEqualTo(FinishReason.ABORTED);
    assertThat(pair.sourceCore.isDrained()).isTrue();
    pair.destination.apply(new EngineCommand.CancelDestination(99), result -> {});
    pair.time.runUntilIdle();
    pair.assertDrained();
  }

  /** A prompt that can never fit is refused, and the source is cleaned up. */
  @ParameterizedTest
  @EnumSource(Engine.class)
  void refusedReservationEndsTheHandoff(Engine engine) {
    Pair pair = new Pair(engine, 10, 16);

    Watch watch = pair.start(1, 48, 3);
    pair.time.runUntilIdle();

    assertThat(watch.order()).endsWith(HandoffStage.CANCELED);
    assertThat(watch.destination.finish).isEqualTo(FinishReason.REJECTED);
    pair.assertDrained();
  }

  @Test
  void rankIsConductedInOnePlace() {
    Pair pair = new Pair(Engine.VLLM, 128, 16);
    pair.start(1, 48, 3);
    VirtualHandoffs other =
        new VirtualHandoffs(pair.time, HandoffSettings.of(HandoffOrder.SOURCE_FIRST));
    EngineRequest request = new EngineRequest(5, new int[8], new int[1], 0);
    Handoff handoff =
        new Handoff(
            pair.source,
            request,
            RankListener.NONE,
            pair.destination,
            request,
            RankListener.NONE,
            stage -> {});

    assertThatIllegalStateException().isThrownBy(() -> other.start(handoff));
    assertThatIllegalStateException().isThrownBy(() -> other.start(handoff));
  }
}
