package dev.warmpath.fake.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.EventVisibility;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.OffloadOptions;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The guarantees of a live scheduler, one by one, as those of the Rust scheduler that the simulator
 * follows. The Javadoc of each test says which function of that scheduler has the guarantee.
 */
class LiveGuaranteesTest {
  private static final EngineRequest REQUEST = request(7, 4, 1);

  private final BoundaryLog log = new BoundaryLog();

  private static EngineRequest request(long id, int prompt, int output) {
    int[] tokens = new int[prompt];
    java.util.Arrays.setAll(tokens, i -> (int) id * 1_000 + i);
    return new EngineRequest(id, tokens, new int[output], 0);
  }

  private RankProcess handoffs(EngineCore core) {
    return new RankProcess(new RankSettings(0, true, 16, log), core, 0);
  }

  private static EngineCommand.Submit submit(long id) {
    return new EngineCommand.Submit(request(id, 4, 4));
  }

  private static ScriptedCore.Pass pass(double durationMs) {
    return new ScriptedCore.Pass(
        durationMs, List.of(), List.of(new EngineEffect.Output(1, 1, null)));
  }

  /** Advances a process until it has nothing to do by itself; returns the time it got to. */
  private static double settle(RankProcess process, double fromMs) {
    double now = fromMs;
    process.advance(now);
    for (double next = process.nextMs(); next < Double.POSITIVE_INFINITY; next = process.nextMs()) {
      now = Math.max(now, next);
      process.advance(now);
    }
    return now;
  }

  private static final class Client implements RankListener {
    final List<String> heard = new ArrayList<>();
    final CountDownLatch ended = new CountDownLatch(1);
    int tokens;
    int leavesAfter = Integer.MAX_VALUE;

    @Override
    public synchronized void admitted(int reusedTokens) {
      heard.add("admitted");
    }

    @Override
    public synchronized void output(int more, @Nullable FinishReason finish) {
      tokens += more;
      if (finish != null) {
        heard.add(finish.toString());
        ended.countDown();
      }
    }

    @Override
    public synchronized boolean connected() {
      return tokens < leavesAfter;
    }
  }

  /** MockerMetrics::new: usage is active of total, and nothing of nothing is 0. */
  @Test
  void usageIsTheActiveShareOfAllBlocks() {
    CoreMetrics half = new CoreMetrics(0, 0, 0, 3, 0, 6, 4, 0, 0, 0, 0, 0, 0, false);
    CoreMetrics none = new CoreMetrics(0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, false);

    assertThat(half.usage()).isEqualTo(0.5);
    assertThat(none.usage()).isZero();
  }

  /** Scheduler::new: metrics can be read before any request. */
  @Test
  void firstMetricsArePublishedAtOnce() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);

    RankProcess process = handoffs(core);

    assertThat(log.kinds()).containsExactly("Metrics");
    assertThat(process.snapshot(0, true).metrics().activeBlocks()).isZero();
  }

  /** Scheduler::new: the command lane holds twice the requests that may run, or the blocks. */
  @Test
  void commandLaneIsTwiceTheRequests() {
    CoreOptions bounded = CoreOptions.builder().maxNumSeqs(12).build();
    CoreOptions unbounded =
        CoreOptions.builder().maxNumSeqs(Integer.MAX_VALUE).numBlocks(50).build();

    assertThat(RankSettings.handoffs(0, bounded).commandCapacity()).isEqualTo(24);
    assertThat(RankSettings.handoffs(0, unbounded).commandCapacity()).isEqualTo(100);
    assertThat(RankSettings.aggregated(0, bounded).handoffs()).isFalse();
  }

  /**
   * Scheduler::new: an aggregated rank never takes a command about a handoff, and its pass isn't
   * interrupted by a cancellation.
   */
  @Test
  void aggregatedRankTakesNoHandoffCommands() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(pass(10));
    core.passes.add(pass(10));
    RankProcess process = new RankProcess(new RankSettings(0, false, 4, log), core, 0);

    assertThat(
            process.offer(
                new EngineCommand.SubmitHandoffPrefill(1, REQUEST), RankListener.NONE, null))
        .isTrue();
    assertThat(process.hasMail()).isFalse();
    process.post(submit(1), RankListener.NONE, null);
    process.advance(0);
    process.post(new EngineCommand.Cancel(1), RankListener.NONE, null);
    assertThat(process.hasMail()).isFalse();
    process.advance(5);
    assertThat(core.calls).doesNotContain("Cancel@5.0");
    settle(process, 10);

    assertThat(core.calls)
        .containsExactly(
            "Submit@0.0",
            "retry@0.0",
            "pass@0.0",
            "retry@10.0",
            "Cancel@10.0",
            "retry@10.0",
            "pass@10.0",
            "retry@20.0");
  }

  /** CancelGuard: closing ends the thread, frees every block, and nothing is heard afterwards. */
  @Test
  void closingFreesThePoolAndEndsEveryRequest() throws Exception {
    CoreOptions options = CoreOptions.builder().blockSize(4).numBlocks(16).build();
    VllmCore core = new VllmCore(options, LatencyModel.constant(0, 3_600_000));
    RankDriver driver =
        new RankDriver("closing", RankSettings.handoffs(0, options), core, EngineClock.system());
    Client running = new Client();
    Client held = new Client();
    driver.submit(request(1, 8, 5), running);
    driver.freeze(true);
    EngineCommand source = new EngineCommand.SubmitHandoffPrefill(3, request(2, 4, 1));
    assertThat(driver.offer(source, held)).isPresent();

    driver.close();

    Client late = new Client();
    driver.submit(request(4, 4, 1), late);
    assertThat(running.ended.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(running.heard).endsWith("ABORTED");
    assertThat(held.heard).endsWith("ABORTED");
    assertThat(late.heard).containsExactly("ABORTED");
    assertThat(driver.snapshot().metrics().activeBlocks()).isZero();
    assertThat(core.isDrained()).isTrue();
    assertThat(driver.apply(new EngineCommand.ReleaseSource(3))).isCancelled();
  }

  /** Main loop: passes last as long as they say; the time of computing and waking is inside. */
  @Test
  void passesTakeTheSumOfTheirDurations() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    for (int i = 0; i < 5; i++) {
      core.passes.add(pass(10));
    }
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    process.advance(0);
    for (double due = 10; due <= 50; due += 10) {
      process.advance(due + 0.7);
      process.advance(due + 0.9);
    }

    assertThat(core.calls)
        .filteredOn(call -> call.startsWith("pass"))
        .containsExactly("pass@0.0", "pass@10.0", "pass@20.0", "pass@30.0", "pass@40.0");
    assertThat(log.of("Accounting"))
        .extracting(BoundaryLog.Entry::timeMs)
        .containsExactly(10.0, 20.0, 30.0, 40.0, 50.0);
  }

  /** Main loop: a machine that stood still doesn't hurry through the passes it missed. */
  @Test
  void longDelaysAreWrittenOff() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(pass(10));
    core.passes.add(pass(10));
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    process.advance(0);
    process.advance(100);
    process.advance(100);

    assertThat(core.calls).endsWith("retry@98.0", "pass@98.0");
  }

  /** zero_progress: a productive pass without duration is followed by the next one (V20). */
  @Test
  void productivePassWithoutDurationGoesOn() throws Exception {
    CoreOptions options = CoreOptions.builder().role(WorkerRole.DECODE).build();
    VllmCore core = new VllmCore(options, LatencyModel.instant());
    try (RankDriver driver =
        new RankDriver("zero", RankSettings.handoffs(0, options), core, EngineClock.system())) {
      Client client = new Client();
      driver.submit(request(1, 64, 50), client);

      assertThat(client.ended.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(client.tokens).isEqualTo(50);
    }
  }

  private RankProcess blockedSglang() {
    CoreOptions options =
        CoreOptions.builder().blockSize(4).numBlocks(2).role(WorkerRole.DECODE).build();
    RankProcess process =
        handoffs(new SglangCore(SglangOptions.builder(options).build(), LatencyModel.polynomial()));
    process.offer(
        new EngineCommand.ReserveDestination(1, request(1, 8, 1)), RankListener.NONE, null);
    settle(process, 0);
    process.post(new EngineCommand.Submit(request(2, 3, 1)), RankListener.NONE, null);
    settle(process, 1);
    return process;
  }

  /** zero_progress: a blocked rank shows one pass that did nothing, and then is silent (V21). */
  @Test
  void blockedRankIsSilent() {
    RankProcess process = blockedSglang();

    assertThat(log.forwardPasses()).isEqualTo(1);
    assertThat(process.state()).isEqualTo(RankProcess.State.WAITING);
    assertThat(process.nextMs()).isInfinite();
    assertThat(process.hasMail()).isFalse();
  }

  /** wait_for_progress_wake: a command wakes a blocked rank (V21). */
  @Test
  void commandWakesABlockedRank() {
    RankProcess process = blockedSglang();
    process.offer(new EngineCommand.CancelDestination(1), RankListener.NONE, null);
    assertThat(process.hasMail()).isTrue();

    settle(process, 50);

    assertThat(log.of("Outputs"))
        .last()
        .extracting(BoundaryLog.Entry::content)
        .isEqualTo("[Output[requestId=2, tokens=1, finish=COMPLETED]]");
  }

  /** wait_for_progress_wake: a request and the end of a transfer wake one too. */
  @Test
  void requestsAndTransfersWakeABlockedRank() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    ScriptedCore.Pass nothing = new ScriptedCore.Pass(0, List.of(), List.of());
    for (int i = 0; i < 3; i++) {
      core.passes.add(nothing);
    }
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    settle(process, 0);
    assertThat(core.passes).hasSize(2);

    process.post(submit(2), RankListener.NONE, null);
    assertThat(process.hasMail()).isTrue();
    settle(process, 5);
    assertThat(core.passes).hasSize(1);

    core.deadlineMs = 9;
    assertThat(process.nextMs()).isEqualTo(9);
    process.advance(9);
    assertThat(core.calls).endsWith("tick@9.0", "pass@9.0");
  }

  /** receive: a request that comes during a pass is taken by the next one. */
  @Test
  void requestsAreTakenBetweenPasses() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(pass(10));
    core.passes.add(pass(10));
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    process.advance(0);
    process.post(submit(2), RankListener.NONE, null);
    assertThat(process.hasMail()).isFalse();
    process.advance(5);
    process.advance(10);
    process.advance(10);

    assertThat(core.calls)
        .containsExactly(
            "Submit@0.0",
            "retry@0.0",
            "pass@0.0",
            "retry@10.0",
            "Submit@10.0",
            "retry@10.0",
            "pass@10.0");
  }

  /** command_sender: bounded, in order, one answer each, and who finds it full has to wait. */
  @Test
  void commandLaneIsBoundedAndInOrder() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    RankProcess process = new RankProcess(new RankSettings(0, true, 3, log), core, 0);
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      assertThat(
              process.offer(
                  new EngineCommand.CancelSource(i),
                  RankListener.NONE,
                  result -> answers.add(number + " " + result.outcome())))
          .isTrue();
    }
    assertThat(process.offer(new EngineCommand.CancelSource(3), RankListener.NONE, null)).isFalse();

    settle(process, 0);

    assertThat(answers).containsExactly("0 APPLIED", "1 APPLIED", "2 APPLIED");
    assertThat(process.offer(new EngineCommand.CancelSource(3), RankListener.NONE, null)).isTrue();
  }

  /** command_sender: a live rank's caller that waits for room is let go when there is some. */
  @Test
  void callersWaitForRoomInTheLane() throws Exception {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    core.answer =
        command -> {
          taken.countDown();
          try {
            assertThat(goOn.await(30, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return new CommandResult(Outcome.NOOP, List.of());
        };
    try (RankDriver driver =
        new RankDriver("full", new RankSettings(0, true, 1, log), core, EngineClock.system())) {
      CompletableFuture<CommandResult> first = driver.apply(new EngineCommand.CancelSource(0));
      assertThat(taken.await(30, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<CommandResult> second = driver.apply(new EngineCommand.CancelSource(1));
      Optional<CompletableFuture<CommandResult>> full =
          driver.offer(new EngineCommand.CancelSource(2), RankListener.NONE);
      CountDownLatch thirdTaken = new CountDownLatch(1);
      Thread caller =
          new Thread(
              () ->
                  driver
                      .apply(new EngineCommand.CancelSource(3))
                      .thenRun(thirdTaken::countDown)
                      .join());
      caller.start();
      assertThat(full).isEmpty();
      assertThat(thirdTaken.getCount()).isEqualTo(1);
      goOn.countDown();

      assertThat(thirdTaken.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(first).isCompleted();
      assertThat(second).isCompleted();
      caller.join();
    }
  }

  /** take_lifecycle_receiver: there is one owner. */
  @Test
  void lifecycleHasOneOwner() {
    RankProcess process = handoffs(new ScriptedCore(EventVisibility.PASS_START));

    assertThat(process.takeLifecycle(effects -> {})).isTrue();
    assertThat(process.takeLifecycle(effects -> {})).isFalse();
  }

  /** receive_until_schedulable: of a command and a request the command is first. */
  @Test
  void commandsComeBeforeRequests() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.deadlineMs = 2;
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    process.offer(new EngineCommand.CancelSource(1), RankListener.NONE, null);
    process.advance(2);

    assertThat(core.calls)
        .containsExactly("CancelSource@2.0", "Submit@2.0", "retry@2.0", "tick@2.0");
  }

  /**
   * wait_for_pass_boundary: during a pass the first other command waits, and everything behind it
   * waits too.
   */
  @Test
  void firstOtherCommandStopsIntakeDuringAPass() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(pass(10));
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    process.advance(0);
    process.offer(
        new EngineCommand.ReserveDestination(1, request(2, 4, 1)), RankListener.NONE, null);
    process.offer(new EngineCommand.CancelDestination(9), RankListener.NONE, null);
    process.offer(
        new EngineCommand.ReserveDestination(2, request(3, 4, 1)), RankListener.NONE, null);
    assertThat(process.hasMail()).isTrue();
    process.advance(4);
    assertThat(process.hasMail()).isFalse();
    process.advance(6);
    process.advance(10);

    assertThat(core.calls)
        .containsExactly(
            "Submit@0.0",
            "retry@0.0",
            "pass@0.0",
            "ReserveDestination mid-pass@4.0",
            "CancelDestination@10.0",
            "ReserveDestination@10.0",
            "retry@10.0");
  }

  /** wait_for_pass_boundary: at one instant the pass ends, then transfers end, then commands. */
  @Test
  void endOfThePassComesFirst() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(pass(10));
    core.deadlineMs = 10;
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    process.advance(0);
    process.offer(
        new EngineCommand.ReserveDestination(1, request(2, 4, 1)), RankListener.NONE, null);
    assertThat(process.passEndIsNext()).isTrue();
    process.advance(10);
    assertThat(log.kinds()).endsWith("Outputs", "Accounting", "Metrics", "Ack", "Metrics");
    process.advance(10);

    assertThat(core.calls)
        .endsWith("pass@0.0", "ReserveDestination@10.0", "retry@10.0", "tick@10.0");
  }

  /**
   * wait_for_internal_deadline: none is never, one to come is exact, an overdue one is looked at
   * once a millisecond.
   */
  @Test
  void overdueDeadlineDoesNotSpin() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    RankProcess process = handoffs(core);
    assertThat(process.nextMs()).isInfinite();
    core.deadlineMs = 3.25;
    assertThat(process.nextMs()).isEqualTo(3.25);

    double now = 3.25;
    for (int i = 0; i < 10; i++) {
      process.advance(now);
      now = process.nextMs();
    }

    assertThat(now).isEqualTo(13.25);
    assertThat(core.calls).hasSize(10).startsWith("tick@3.25", "tick@4.25").endsWith("tick@12.25");
  }

  private static CoreOptions.Builder offloading(int blocks, long bytesPerToken) {
    return CoreOptions.builder()
        .blockSize(4)
        .numBlocks(blocks)
        .cacheEvents(true)
        .role(WorkerRole.PREFILL)
        .transfer(new KvTransfer(bytesPerToken, 0))
        .offload(new OffloadOptions(16, 0, 1, 1, 32));
  }

  /**
   * apply_live_command, advance_live_offload: an eviction starts its transfer when the command
   * applies, not when a pass began; during a pass the end of the transfer shows in the cache and
   * not in the handoff, which goes on at the next boundary (V22).
   */
  @Test
  void transferStartsWhenTheCommandApplies() {
    CoreOptions options = offloading(3, 5_000_000).role(WorkerRole.REGULAR).build();
    RankProcess process = handoffs(new VllmCore(options, LatencyModel.constant(0, 50)));
    process.post(new EngineCommand.Submit(request(1, 4, 1)), RankListener.NONE, null);
    assertThat(settle(process, 0)).isEqualTo(50);
    process.post(new EngineCommand.Submit(request(2, 1, 3)), RankListener.NONE, null);
    process.advance(50);
    process.advance(60);
    // waits for the end of the pass, and what is behind it with it
    process.offer(new EngineCommand.CancelSource(99), RankListener.NONE, null);
    process.offer(
        new EngineCommand.ReserveDestination(3, request(3, 8, 1)), RankListener.NONE, null);
    process.advance(61);
    process.advance(100);
    process.advance(100);
    log.clear();

    assertThat(process.state()).isEqualTo(RankProcess.State.COMPUTING);
    assertThat(process.nextMs()).isEqualTo(120, within(0.01));
    process.advance(process.nextMs());
    assertThat(log.kinds()).containsExactly("KV");
    assertThat(log.of("KV").get(0).content()).contains("BlocksStored[HOST");
    assertThat(process.nextMs()).isEqualTo(150);
    process.advance(150);

    assertThat(log.kinds())
        .containsExactly("KV", "Outputs", "Accounting", "Metrics", "Lifecycle", "Metrics");
    assertThat(log.of("Lifecycle").get(0).content())
        .isEqualTo("[DestinationReserved[handoffId=3, requestId=3, transferableTokens=8]]");
  }

  /** retry_live_destinations: runs after every boundary, even without a command. */
  @Test
  void destinationsAreTriedAfterEveryBoundary() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_END);
    core.passes.add(pass(10));
    core.passes.add(pass(10));
    core.retries.add(List.of());
    core.retries.add(List.of(new EngineEffect.DestinationReserved(1, 2, 4)));
    RankProcess process = handoffs(core);
    process.post(submit(1), RankListener.NONE, null);
    settle(process, 0);

    assertThat(core.calls)
        .containsExactly(
            "Submit@0.0", "retry@0.0", "pass@0.0", "retry@10.0", "pass@10.0", "retry@20.0");
    assertThat(log.of("Lifecycle")).extracting(BoundaryLog.Entry::timeMs).containsExactly(10.0);
  }

  /** pass_boundary_metrics: vLLM shows commands of the pass at its end, SGLang only the pass. */
  @Test
  void metricsAtTheBoundaryAreLiveOrThePasss() {
    for (EventVisibility visibility : EventVisibility.values()) {
      log.clear();
      ScriptedCore core = new ScriptedCore(visibility);
      core.passes.add(pass(10));
      core.running = 1;
      core.answer =
          command -> {
            core.running++;
            return new CommandResult(Outcome.SUBMITTED, List.of());
          };
      RankProcess process = handoffs(core);
      process.post(submit(1), RankListener.NONE, null);
      process.advance(0);
      process.offer(
          new EngineCommand.SubmitHandoffPrefill(1, request(2, 4, 1)), RankListener.NONE, null);
      process.advance(5);
      process.advance(10);

      assertThat(process.snapshot(10, false).metrics().running())
          .as("%s", visibility)
          .isEqualTo(visibility == EventVisibility.PASS_START ? 3 : 2);
    }
  }

  /** output_delivery_failed: a request without receiver is dropped at the same boundary (V19). */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void goneReceiverFreesItsRequestAtTheBoundary(boolean vllm) {
    CoreOptions options =
        CoreOptions.builder().numBlocks(10).blockSize(64).prefixCaching(vllm).build();
    RankProcess process =
        handoffs(
            vllm
                ? new VllmCore(options, LatencyModel.polynomial())
                : new SglangCore(
                    SglangOptions.builder(options).build(), LatencyModel.polynomial()));
    Client client = new Client();
    client.leavesAfter = 129;
    process.post(new EngineCommand.Submit(request(1, 256, 200)), client, null);
    settle(process, 0);

    assertThat(client.tokens).isEqualTo(129);
    assertThat(process.snapshot(1e6, true).metrics().activeBlocks()).isZero();
    assertThat(process.snapshot(1e6, true).metrics().running()).isZero();
    List<BoundaryLog.Entry> entries = log.entries();
    double lastOutput = log.of("Outputs").get(128).timeMs();
    assertThat(log.of("Outputs")).hasSize(129);
    assertThat(entries.get(entries.size() - 1).timeMs()).isEqualTo(lastOutput);
  }

  /** output_delivery_failed: a held source goes with its receiver. */
  @Test
  void goneReceiverFreesItsHeldSource() {
    CoreOptions options = CoreOptions.builder().numBlocks(10).blockSize(4).build();
    VllmCore core = new VllmCore(options, LatencyModel.polynomial());
    RankProcess process = handoffs(core);
    Client client = new Client();
    client.leavesAfter = 1;
    process.offer(new EngineCommand.SubmitHandoffPrefill(1, request(1, 8, 1)), client, null);
    settle(process, 0);

    assertThat(core.isDrained()).isTrue();
    assertThat(process.snapshot(1e6, true).metrics().activeBlocks()).isZero();
  }

  /**
   * The Rust scheduler's test idle_destination_reservation_wakes_at_offload_deadline, step by step:
   * an idle rank is woken by the end of a transfer, without any further command.
   */
  @Test
  void idleReservationWakesAtTheEndOfTheTransfer() {
    VllmCore core = new VllmCore(offloading(2, 250_000).build(), LatencyModel.polynomial());
    RankProcess process = handoffs(core);
    List<String> answers = new ArrayList<>();
    CommandListener answer =
        result -> answers.add(result.outcome() + " " + result.effects().size());
    process.post(new EngineCommand.Submit(request(1, 4, 1)), RankListener.NONE, null);
    double now = settle(process, 0);
    process.offer(
        new EngineCommand.SubmitHandoffPrefill(1, request(2, 3, 1)), RankListener.NONE, answer);
    now = settle(process, now);
    assertThat(core.metrics().activeBlocks()).isEqualTo(1);
    log.clear();

    process.offer(
        new EngineCommand.ReserveDestination(2, request(3, 4, 1)), RankListener.NONE, answer);
    process.advance(now);
    assertThat(log.of("Lifecycle")).isEmpty();
    assertThat(process.nextMs()).isEqualTo(now + 1, within(1e-9));
    now = settle(process, process.nextMs());

    assertThat(log.of("Lifecycle"))
        .extracting(BoundaryLog.Entry::content)
        .containsExactly("[DestinationReserved[handoffId=2, requestId=3, transferableTokens=4]]");
    String changes =
        String.join("", log.of("KV").stream().map(BoundaryLog.Entry::content).toList());
    assertThat(changes.split("BlocksStored\\[HOST", -1)).hasSize(2);
    int before = log.of("KV").size();
    process.offer(new EngineCommand.CancelDestination(77), RankListener.NONE, answer);
    process.offer(new EngineCommand.CancelDestination(2), RankListener.NONE, answer);
    process.offer(new EngineCommand.CancelSource(1), RankListener.NONE, answer);
    settle(process, now);

    assertThat(answers)
        .extracting(text -> text.substring(0, text.indexOf(' ')))
        .containsExactly("SUBMITTED", "DESTINATION_ACCEPTED", "NOOP", "APPLIED", "APPLIED");
    assertThat(log.of("KV")).hasSize(before);
    assertThat(core.isDrained()).isTrue();
  }
}
