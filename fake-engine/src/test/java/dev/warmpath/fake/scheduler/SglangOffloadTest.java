package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineEffect.Admitted;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.DestinationReserved;
import dev.warmpath.fake.scheduler.EngineEffect.Output;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** SGLang's scheduler over a host's memory that is slow to reach. */
class SglangOffloadTest {
  private final List<EngineEffect> log = new ArrayList<>();
  private double now;

  /** Pages of 4 tokens; a page takes so many milliseconds to the host. */
  private static SglangCore core(int pages, double pageMs) {
    CoreOptions options =
        CoreOptions.builder()
            .numBlocks(pages)
            .blockSize(4)
            .cacheEvents(true)
            .transfer(new KvTransfer((long) (pageMs * 250_000), 1))
            .offload(new OffloadOptions(8, 0, 1, 1, 32))
            .build();
    return new SglangCore(SglangOptions.builder(options).build(), LatencyModel.constant(0, 0.25));
  }

  private List<EngineEffect> apply(SglangCore core, EngineCommand command, Outcome expected) {
    CommandResult result = core.apply(command, true, now);
    assertThat(result.outcome()).isEqualTo(expected);
    log.addAll(result.effects());
    return result.effects();
  }

  private void submit(SglangCore core, EngineRequest request) {
    apply(core, new EngineCommand.Submit(request), Outcome.SUBMITTED);
  }

  private PassResult pass(SglangCore core) {
    PassResult pass = core.executePass(now);
    now = pass.endMs();
    log.addAll(pass.onStart());
    log.addAll(pass.onEnd());
    return pass;
  }

  private void drain(SglangCore core) {
    for (int i = 0; core.hasWork() || core.nextDeadlineMs() < Double.POSITIVE_INFINITY; i++) {
      assertThat(i).isLessThan(1_000);
      if (core.hasWork()) {
        pass(core);
      } else {
        now = core.nextDeadlineMs();
        log.addAll(core.tick(now, true));
      }
    }
  }

  private static List<EngineEffect> cacheChanges(List<EngineEffect> effects) {
    return effects.stream().filter(effect -> effect.kind() == EngineEffect.Kind.KV).toList();
  }

  private static @Nullable StorageTier tier(EngineEffect effect) {
    return effect instanceof BlocksStored stored ? stored.tier() : null;
  }

  @Test
  void evictionByACommandIsCopiedFromTheTimeOfTheCommand() {
    SglangCore core = core(2, 20);
    submit(core, CoreScript.request(1, 4, 1));
    drain(core);
    now = 100;

    assertThat(
            apply(
                core,
                new EngineCommand.ReserveDestination(7, CoreScript.request(2, 8, 1)),
                Outcome.DESTINATION_ACCEPTED))
        .noneMatch(DestinationReserved.class::isInstance);
    assertThat(core.nextDeadlineMs()).isEqualTo(120, within(0.01));
    assertThat(core.metrics().activeBlocks()).as("the quarantined page").isEqualTo(1);

    List<EngineEffect> transport = core.tick(core.nextDeadlineMs(), false);
    assertThat(transport).hasSize(1);
    assertThat(tier(transport.get(0))).isEqualTo(StorageTier.HOST);
    assertThat(core.retryDestinations(120)).containsExactly(new DestinationReserved(7, 2, 8));
    assertThat(core.nextDeadlineMs()).isInfinite();
  }

  @Test
  void idleReservationIsServedByTheDeadlineAlone() {
    SglangCore core = core(2, 1);
    submit(core, CoreScript.request(1, 4, 1));
    drain(core);
    double at = now;
    apply(
        core,
        new EngineCommand.ReserveDestination(7, CoreScript.request(2, 8, 1)),
        Outcome.DESTINATION_ACCEPTED);
    assertThat(core.hasWork()).isFalse();
    assertThat(core.isDrained()).isFalse();

    assertThat(core.nextDeadlineMs()).isEqualTo(at + 1, within(1e-9));
    assertThat(core.tick(at + 1, true)).contains(new DestinationReserved(7, 2, 8));

    apply(core, new EngineCommand.CancelDestination(7), Outcome.APPLIED);
    assertThat(core.isDrained()).isTrue();
  }

  /** Leaves the page of family 1 only on the host. */
  private SglangCore offloaded() {
    SglangCore core = core(3, 1);
    submit(core, CoreScript.request(1, 4, 1));
    drain(core);
    submit(core, CoreScript.request(2, 8, 3));
    drain(core);
    assertThat(core.cachedTokens(CoreScript.request(3, 1, 6, 1))).isZero();
    log.clear();
    return core;
  }

  @Test
  void pagesComeBackBeforeTheirRequestIsAdmitted() {
    SglangCore core = offloaded();
    submit(core, CoreScript.request(3, 1, 6, 2));
    double start = now;

    PassResult parked = core.executePass(start);
    assertThat(parked.onStart()).isEmpty();
    assertThat(parked.endMs()).as("nothing to do before").isEqualTo(start + 1, within(1e-9));
    assertThat(core.metrics().waiting()).isEqualTo(1);
    assertThat(core.metrics().waitingTokens()).isEqualTo(6);
    assertThat(core.metrics().activeBlocks()).as("the page that waits").isEqualTo(1);
    assertThat(core.hasWork()).isFalse();
    assertThat(core.nextDeadlineMs()).isEqualTo(start + 1, within(1e-9));
    assertThat(core.tick(start + 0.5, true)).isEmpty();

    List<EngineEffect> landed = core.tick(start + 1, true);
    now = start + 1;
    assertThat(cacheChanges(landed)).hasSize(1);
    assertThat(tier(landed.get(0))).isEqualTo(StorageTier.DEVICE);
    assertThat(pass(core).onStart()).as("a page for the rest has to be copied away").isEmpty();
    assertThat(pass(core).onStart()).containsExactly(new Admitted(3, 4));
    drain(core);
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void whoCancelsASwapInFreesItsIdAtOnceAndItsPagesAtTheEnd() {
    SglangCore core = offloaded();
    submit(core, CoreScript.request(3, 1, 6, 2));
    core.executePass(now);

    assertThat(apply(core, new EngineCommand.Cancel(3), Outcome.APPLIED))
        .containsExactly(new Output(3, 0, FinishReason.ABORTED));
    assertThat(core.metrics().waiting()).isZero();
    assertThat(core.metrics().activeBlocks()).isEqualTo(1);
    assertThat(core.isDrained()).isFalse();
    submit(core, CoreScript.request(3, 4, 1));
    drain(core);

    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void runningRequestsWaitForAPageThatIsBeingCopied() {
    SglangCore core = core(3, 10);
    submit(core, CoreScript.request(1, 4, 1));
    drain(core);
    submit(core, CoreScript.request(2, 8, 3));
    double start = now;

    PassResult extend = pass(core);
    assertThat(extend.onEnd())
        .as("its first token has no page")
        .noneMatch(Output.class::isInstance);
    PassResult stalled = pass(core);

    assertThat(stalled.endMs()).isEqualTo(start + 10, within(1e-9));
    assertThat(stalled.decodeMs()).isZero();
    assertThat(core.metrics().preemptions()).as("nobody gives way").isZero();
    assertThat(pass(core).onEnd()).contains(new Output(2, 1, null));
  }

  @Test
  void flushWaitsForTransfersAndEmptiesTheHost() {
    SglangCore core = offloaded();
    submit(core, CoreScript.request(3, 1, 6, 2));
    core.executePass(now);
    apply(core, new EngineCommand.Cancel(3), Outcome.APPLIED);
    apply(core, new EngineCommand.Flush(), Outcome.NOOP);
    drain(core);

    apply(core, new EngineCommand.Flush(), Outcome.APPLIED);
    submit(core, CoreScript.request(4, 1, 6, 2));

    assertThat(pass(core).onStart()).containsExactly(new Admitted(4, 0));
  }

  @Test
  void saysWhyNothingIsOffloaded() {
    CoreOptions options =
        CoreOptions.builder().numBlocks(4).offload(OffloadOptions.of(4, 0)).build();

    SglangCore core =
        new SglangCore(SglangOptions.builder(options).build(), LatencyModel.instant());

    assertThat(core.problems()).singleElement().asString().contains("bytesPerToken");
    assertThat(core(2, 1).problems()).isEmpty();
  }
}
