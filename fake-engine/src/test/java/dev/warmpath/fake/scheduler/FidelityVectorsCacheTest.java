package dev.warmpath.fake.scheduler;

import static dev.warmpath.fake.scheduler.CoreScript.admitted;
import static dev.warmpath.fake.scheduler.CoreScript.only;
import static dev.warmpath.fake.scheduler.CoreScript.request;
import static dev.warmpath.fake.scheduler.CoreScript.small;
import static dev.warmpath.fake.scheduler.CoreScript.tokens;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineEffect.Admitted;
import dev.warmpath.fake.scheduler.EngineEffect.BlockRemoved;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.DestinationReserved;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reservations and lower cache tiers, with the values that the tests of Dynamo's mocker assert. */
class FidelityVectorsCacheTest {

  /** Blocks of 4 tokens and of so many megabytes, over links of 1 GB/s. */
  private static CoreOptions.Builder offloading(
      int blocks, double blockMegabytes, int hostBlocks, int diskBlocks) {
    return small(blocks, 64, 8)
        .transfer(new KvTransfer((long) (blockMegabytes * 250_000), 0))
        .offload(new OffloadOptions(hostBlocks, diskBlocks, 1, 1, 32));
  }

  @Test
  void v15CancelledReservationLeavesTheLeafOldest() {
    CoreScript script = new CoreScript(small(3, 64, 3));
    script.submit(request(1, 8, 1));
    script.drain();
    long[] seeded = only(BlocksStored.class, script.log).get(0).blockHashes();
    script.apply(
        new EngineCommand.ReserveDestination(7, request(2, 1, 8, 1)), Outcome.DESTINATION_ACCEPTED);
    script.apply(new EngineCommand.CancelDestination(7), Outcome.APPLIED);

    script.submit(request(3, 8, 1));
    script.drain();

    assertThat(only(BlockRemoved.class, script.log))
        .containsExactly(new BlockRemoved(StorageTier.DEVICE, seeded[1]));
    assertThat(script.core.state().pool.residentPrefix(seeded, 2)).isEqualTo(1);
  }

  @Test
  void v16ReservationCoversTheBlocksThatThePromptLacks() {
    for (int output : new int[] {1, 128}) {
      CoreScript script = new CoreScript(small(16, 64, 3));
      assertThat(
              script.apply(
                  new EngineCommand.ReserveDestination(7, request(1, 10, output)),
                  Outcome.DESTINATION_ACCEPTED))
          .containsExactly(new DestinationReserved(7, 1, 12));
    }
    CoreScript script = new CoreScript(small(16, 64, 3));
    script.submit(request(1, 4, 1));
    script.drain();
    assertThat(
            script.apply(
                new EngineCommand.ReserveDestination(7, request(2, 1, 8, 1)),
                Outcome.DESTINATION_ACCEPTED))
        .containsExactly(new DestinationReserved(7, 2, 4));
  }

  @Test
  void v21RequestBlockedByAReservationWaitsInSilenceForItsEnd() {
    CoreScript script = new CoreScript(small(2, 64, 3));
    script.apply(
        new EngineCommand.ReserveDestination(7, request(1, 8, 1)), Outcome.DESTINATION_ACCEPTED);
    script.submit(request(2, 4, 1));

    PassResult blocked = script.pass();
    assertThat(blocked.progressed()).isFalse();
    assertThat(blocked.forward().queuedPrefillRequests()).isEqualTo(1);
    assertThat(blocked.forward().queuedDecodeRequests()).isEqualTo(1);
    assertThat(script.core.retryDestinations(script.now)).isEmpty();

    script.apply(new EngineCommand.CancelDestination(7), Outcome.APPLIED);
    assertThat(admitted(script.pass())).containsExactly(2L);
  }

  @Test
  void v22EvictionByACommandIsCopiedFromTheTimeOfTheCommand() {
    CoreScript script = new CoreScript(offloading(1, 20, 8, 0));
    script.submit(request(1, 4, 1));
    script.drain();
    script.now = 100;

    assertThat(
            only(
                DestinationReserved.class,
                script.apply(
                    new EngineCommand.ReserveDestination(7, request(2, 4, 1)),
                    Outcome.DESTINATION_ACCEPTED)))
        .isEmpty();
    assertThat(script.core.nextDeadlineMs()).isEqualTo(120, within(0.01));
    assertThat(script.active()).as("the quarantined slot").isEqualTo(1);

    List<EngineEffect> transport = script.tickTo(script.core.nextDeadlineMs(), false);
    assertThat(transport).hasSize(1);
    assertThat(((BlocksStored) transport.get(0)).tier()).isEqualTo(StorageTier.HOST);
    assertThat(script.core.retryDestinations(script.now))
        .containsExactly(new DestinationReserved(7, 2, 4));
    assertThat(script.core.nextDeadlineMs()).isInfinite();
  }

  @Test
  void idleReservationIsServedByTheDeadlineAlone() {
    CoreScript script = new CoreScript(offloading(2, 1, 8, 0));
    script.submit(request(1, 4, 1));
    script.drain();
    script.apply(new EngineCommand.SubmitHandoffPrefill(1, request(2, 4, 1)), Outcome.SUBMITTED);
    script.drain();
    int before = script.log.size();
    double at = script.now;

    assertThat(
            only(
                DestinationReserved.class,
                script.apply(
                    new EngineCommand.ReserveDestination(2, request(3, 4, 1)),
                    Outcome.DESTINATION_ACCEPTED)))
        .isEmpty();
    script.tickTo(script.core.nextDeadlineMs(), true);

    assertThat(script.now - at).isEqualTo(1.0, within(1e-6));
    List<EngineEffect> since = script.log.subList(before, script.log.size());
    assertThat(only(DestinationReserved.class, since))
        .containsExactly(new DestinationReserved(2, 3, 4));
    assertThat(only(BlocksStored.class, since))
        .extracting(BlocksStored::tier)
        .containsExactly(StorageTier.HOST);
    assertThat(script.apply(new EngineCommand.CancelDestination(99), Outcome.NOOP)).isEmpty();
    script.apply(new EngineCommand.CancelDestination(2), Outcome.APPLIED);
    script.apply(new EngineCommand.CancelSource(1), Outcome.APPLIED);
    assertThat(script.core.isDrained()).isTrue();
  }

  @Test
  void v23TransfersShareTheirLink() {
    assertThat(ends(0)).containsExactly(1.0);
    assertThat(ends(0, 0)).containsExactly(2.0, 2.0);
    assertThat(ends(0, 0.5)).containsExactly(1.5, 2.0);
    assertThat(ends(new double[10])).hasSize(10).containsOnly(10.0);
  }

  /** When transfers of a megabyte each end on a link of 1 GB/s. */
  private static List<Double> ends(double... starts) {
    SharedLink<Double> link = new SharedLink<>(1);
    List<Double> ends = new ArrayList<>();
    for (double start : starts) {
      link.start(start, 1e6, start);
    }
    while (!link.isIdle()) {
      double end = link.nextEndMs();
      link.advance(end).forEach(arrived -> ends.add(end));
    }
    return ends;
  }

  /** Leaves the blocks of family 1 only in lower tiers, and the pool of 2 blocks unused. */
  private static CoreScript evicted(CoreScript script, int prompt) {
    script.submit(request(1, prompt, 1));
    script.drain();
    script.submit(request(2, 3, 1), request(3, 3, 1));
    script.drain();
    assertThat(script.core.state().pool.unused()).isEqualTo(2);
    return script;
  }

  @Test
  void v24SwapInParksItsRequestAndKeepsASlot() {
    CoreScript script = evicted(new CoreScript(offloading(2, 1, 8, 0)), 4);
    script.now = 1000;
    script.submit(request(4, 1, 5, 1), request(5, 5, 1));

    PassResult parked = script.core.executePass(1000);
    assertThat(admitted(parked)).isEmpty();
    assertThat(parked.endMs()).as("the end of the transfer").isEqualTo(1001, within(1e-6));
    assertThat(script.active()).isEqualTo(1);
    assertThat(script.core.metrics().waiting()).isEqualTo(2);

    script.tickTo(1000.5, true);
    assertThat(script.core.nextDeadlineMs()).isEqualTo(1001, within(1e-6));
    assertThat(admitted(script.core.executePass(1000.5))).isEmpty();
    List<EngineEffect> back = script.tickTo(1001, true);
    assertThat(only(BlocksStored.class, back))
        .extracting(BlocksStored::tier)
        .containsExactly(StorageTier.DEVICE);
    assertThat(script.core.nextDeadlineMs()).isInfinite();
    assertThat(script.active()).isZero();

    PassResult admitting = script.pass();
    assertThat(only(Admitted.class, admitting.onStart())).containsExactly(new Admitted(4, 4));
    script.drain();
    assertThat(tokens(script.log, 5)).isEqualTo(1);
    assertThat(script.core.isDrained()).isTrue();
  }

  @Test
  void cancelledSwapInFreesItsIdAtOnceAndItsSlotsAtTheEnd() {
    CoreScript script = evicted(new CoreScript(offloading(2, 1, 8, 0)), 4);
    script.now = 1000;
    script.submit(request(4, 1, 5, 1));
    script.pass();
    script.now = 1000.5;

    script.apply(new EngineCommand.Cancel(4), Outcome.APPLIED);

    assertThat(script.active()).isEqualTo(1);
    assertThat(script.core.metrics().waiting()).isZero();
    assertThat(script.core.isDrained()).isFalse();
    script.submit(request(4, 3, 1));
    script.drain();
    assertThat(tokens(script.log, 4)).isEqualTo(1);
    assertThat(script.active()).isZero();
    assertThat(script.core.isDrained()).isTrue();
  }

  @Test
  void v25BlocksComeBackFromDiskOverTheHost() {
    CoreScript script = evicted(new CoreScript(offloading(2, 1, 2, 8)), 8);
    // pushes the host's copies out, so that only the disk has them
    script.submit(request(6, 8, 1));
    script.drain();
    script.submit(request(7, 3, 1), request(8, 3, 1));
    script.drain();
    script.now = 1000;
    script.submit(request(4, 1, 8, 1));

    assertThat(script.pass().endMs()).isEqualTo(1002, within(1e-6));
    assertThat(script.pass().endMs()).isEqualTo(1004, within(1e-6));
    assertThat(only(Admitted.class, script.pass().onStart())).containsExactly(new Admitted(4, 4));
    CacheIndex.of(script.log);
  }

  @Test
  void offloadThatCannotStartIsReportedAndTheEngineRunsWithoutIt() {
    CoreScript script = new CoreScript(small(2, 64, 3).offload(OffloadOptions.of(8, 0)));

    assertThat(script.core.problems())
        .singleElement()
        .asString()
        .contains("size of a token's KV isn't known");
    script.submit(request(1, 8, 1), request(2, 8, 1));
    script.drain();
    assertThat(tokens(script.log, 2)).isEqualTo(1);
    assertThat(script.core.nextDeadlineMs()).isInfinite();
  }
}
