package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.KvEvent.Stored;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KvStreamTest {
  private static final int CLIENT = 4;
  private static final long A = HolderIds.of(1, 0);
  private static final long NEXT = HolderIds.of(2, 1);
  private static final int[] TOKENS = IntStream.range(0, 4_000).toArray();
  private static final BlockHashes PROMPT =
      HashSchemes.content(HashParams.builder().blockSize(CLIENT).model("m").build())
          .newChain()
          .append(TOKENS)
          .hashes();

  private final BlockIndex index = BlockIndex.builder().ticker(new ManualTicker()).build();
  private final KvStream stream =
      new KvStream(new KvEventIndex(index, CLIENT, 1 << 20).rank(A, "m"));
  private final BlockMatches matches = new BlockMatches();

  @AfterEach
  void audit() {
    BlockAudit.audit(index);
  }

  /** The batch that tells of the block of the same number; of a life of the engine. */
  private static KvBatch batch(int number, int life) {
    int[] tokens = IntStream.range(number * CLIENT, (number + 1) * CLIENT).toArray();
    Stored block =
        new Stored(new long[] {number}, number == 0, number - 1, tokens, Tier.HBM, KvKeys.NONE);
    return new KvBatch(number, 1_000.0 * life + number, List.of(block));
  }

  private static KvBatch batch(int number) {
    return batch(number, 1);
  }

  private void live(int from, int to) {
    for (int i = from; i < to; i++) {
      assertThat(stream.live(batch(i))).as("batch %d wants a replay", i).isFalse();
    }
  }

  private void replay(int from, int to) {
    assertThat(stream.replayFrom()).isLessThanOrEqualTo(from);
    for (int i = from; i < to; i++) {
      stream.replayed(batch(i));
    }
    assertThat(stream.replayEnded()).isFalse();
  }

  private int held(long holder) {
    index.match(PROMPT, matches);
    return matches.blocks(holder);
  }

  private boolean authoritative(long holder) {
    return index.authoritative(holder, PROMPT.namespace());
  }

  @Test
  void whatIsToldFromTheStartOnIsAll() {
    live(0, 10);
    assertThat(held(A)).isEqualTo(10);
    assertThat(authoritative(A)).isTrue();
    assertThat(stream.stats().batches()).isEqualTo(10);
    assertThat(stream.stats().events()).isEqualTo(10);
    assertThat(stream.stats().lastEpochSeconds()).isEqualTo(1_009);
  }

  @Test
  void duplicatesAreLeftOut() {
    live(0, 5);
    live(2, 5);
    live(5, 6);
    assertThat(held(A)).isEqualTo(6);
    assertThat(stream.stats().duplicates()).isEqualTo(3);
    assertThat(stream.stats().restarts()).isZero();
  }

  @Test
  void aGapIsFilledByAReplayWhileWhatComesWaits() {
    live(0, 3);
    assertThat(stream.live(batch(5))).isTrue();
    assertThat(stream.replayFrom()).isEqualTo(3);
    assertThat(stream.live(batch(6))).isFalse();
    assertThat(held(A)).isEqualTo(3);
    replay(3, 6);
    assertThat(held(A)).isEqualTo(7);
    assertThat(authoritative(A)).isTrue();
    assertThat(stream.stats().gaps()).isEqualTo(1);
    assertThat(stream.stats().losses()).isZero();
  }

  @Test
  void aGapThatCannotBeFilledDropsTheIndexUntilTheEngineBeginsAnew() {
    live(0, 3);
    assertThat(stream.live(batch(5))).isTrue();
    stream.replayFailed();
    assertThat(held(A)).isZero();
    assertThat(authoritative(A)).isFalse();
    assertThat(stream.stats().losses()).isEqualTo(1);
    assertThat(stream.stats().rank().unplaced()).isEqualTo(1);
    live(6, 8);
    assertThat(held(A)).isZero();
    assertThat(stream.live(batch(0, 2))).isFalse();
    assertThat(held(A)).isEqualTo(1);
    assertThat(authoritative(A)).isTrue();
    assertThat(stream.stats().restarts()).isEqualTo(1);
  }

  @Test
  void aReplayThatBeginsTooLateDropsTheIndex() {
    live(0, 3);
    assertThat(stream.live(batch(9))).isTrue();
    stream.replayed(batch(7));
    stream.replayed(batch(8));
    stream.replayEnded();
    assertThat(authoritative(A)).isFalse();
    assertThat(stream.stats().losses()).isEqualTo(1);
    live(10, 11);
    assertThat(stream.stats().batches()).isEqualTo(7);
  }

  @Test
  void whatIsStillMissingAfterAReplayIsLost() {
    live(0, 3);
    assertThat(stream.live(batch(7))).isTrue();
    replay(3, 5);
    assertThat(authoritative(A)).isFalse();
    assertThat(stream.stats().losses()).isEqualTo(1);
  }

  @Test
  void whoJoinsLateAsksForAllThatWasTold() {
    assertThat(stream.joined()).isTrue();
    assertThat(stream.replayFrom()).isZero();
    assertThat(stream.joined()).as("one is under way").isFalse();
    replay(0, 6);
    live(6, 8);
    assertThat(held(A)).isEqualTo(8);
    assertThat(authoritative(A)).isTrue();
    assertThat(stream.stats().gaps()).isZero();
  }

  @Test
  void howLateAndHowFastEventsComeIsKnown() {
    AtomicLong millis = new AtomicLong(1_000_500);
    KvStream clocked =
        new KvStream(
            new KvEventIndex(index, CLIENT, 1 << 20).rank(NEXT, "m"),
            () -> Instant.ofEpochMilli(millis.get()));
    assertThat(clocked.stats().lagSeconds()).isNaN();
    assertThat(clocked.stats().eventsPerSecond()).isZero();
    clocked.live(batch(0));
    assertThat(clocked.stats().lagSeconds()).isEqualTo(0.5);
    for (int i = 1; i <= 100; i++) {
      millis.addAndGet(1_000);
      clocked.live(batch(i));
    }
    assertThat(clocked.stats().lagSeconds()).isEqualTo(0.5);
    assertThat(clocked.stats().eventsPerSecond()).isCloseTo(1, within(0.06));
    millis.addAndGet(60_000);
    assertThat(clocked.stats().eventsPerSecond()).isLessThan(0.01);
    assertThat(clocked.stats().lagSeconds()).as("of the last one").isEqualTo(0.5);
  }

  @Test
  void whoJoinsLateWithoutAReplayKnowsThatItDoesNotKnowAll() {
    assertThat(stream.live(batch(6))).isTrue();
    stream.replayFailed();
    assertThat(authoritative(A)).isFalse();
    assertThat(stream.stats().complete()).isFalse();
    stream.live(new KvBatch(7, 1_007, List.of(new KvEvent.Cleared(), batch(0).events().get(0))));
    assertThat(held(A)).isEqualTo(1);
    assertThat(authoritative(A)).as("all of an emptied cache").isTrue();
  }

  @Test
  void anEngineThatHasToldNothingHasNothing() {
    assertThat(stream.joined()).isTrue();
    assertThat(stream.replayEnded()).isFalse();
    assertThat(authoritative(A)).isTrue();
    live(0, 2);
    assertThat(held(A)).isEqualTo(2);
  }

  @Test
  void whoComesBackAsksForWhatWasToldMeanwhile() {
    live(0, 3);
    assertThat(stream.joined()).isTrue();
    assertThat(stream.replayFrom()).isEqualTo(2);
    stream.replayed(batch(2));
    stream.replayed(batch(3));
    assertThat(stream.replayEnded()).isFalse();
    assertThat(held(A)).isEqualTo(4);
    assertThat(stream.stats().restarts()).isZero();
  }

  @Test
  void whoComesBackToAnotherLifeBeginsAnew() {
    live(0, 3);
    assertThat(stream.joined()).isTrue();
    assertThat(stream.replayEnded()).as("nothing of that number").isTrue();
    assertThat(held(A)).isZero();
    assertThat(authoritative(A)).isFalse();
    assertThat(stream.replayFrom()).isZero();
    stream.replayed(batch(0, 2));
    assertThat(stream.replayEnded()).isFalse();
    assertThat(held(A)).isEqualTo(1);
    assertThat(authoritative(A)).isTrue();

    assertThat(stream.live(batch(1, 2))).isFalse();
    assertThat(stream.joined()).isTrue();
    stream.replayed(batch(1, 3));
    stream.replayed(batch(2, 3));
    assertThat(stream.replayEnded()).as("another batch of that number").isTrue();
    assertThat(stream.stats().restarts()).isEqualTo(2);
  }

  @Test
  void aRestartIsSeenByYoungerBatchesWithOldNumbers() {
    live(0, 6);
    assertThat(stream.live(batch(2, 2))).isTrue();
    assertThat(held(A)).isZero();
    assertThat(authoritative(A)).isFalse();
    stream.replayed(batch(0, 2));
    stream.replayed(batch(1, 2));
    stream.replayEnded();
    assertThat(held(A)).isEqualTo(3);
    assertThat(authoritative(A)).isTrue();
  }

  @Test
  void batchesWithoutNumbersAreTakenAsTheyCome() {
    KvBatch first = batch(0);
    KvBatch second = batch(1);
    stream.live(new KvBatch(KvBatch.UNNUMBERED, 1, first.events()));
    stream.live(new KvBatch(KvBatch.UNNUMBERED, 2, second.events()));
    assertThat(held(A)).isEqualTo(2);
    assertThat(authoritative(A)).isFalse();
    stream.live(new KvBatch(KvBatch.UNNUMBERED, 3, List.of(new KvEvent.Cleared())));
    assertThat(held(A)).isZero();
    assertThat(authoritative(A)).isFalse();
  }

  @Test
  void whatTheNewLifeToldGoesOverToItsHolder() {
    live(0, 6);
    assertThat(stream.live(batch(0, 2))).isFalse();
    stream.renewed(NEXT);
    index.drop(A);
    assertThat(held(NEXT)).isEqualTo(1);
    assertThat(authoritative(NEXT)).isTrue();
  }

  @Test
  void whatTheOldLifeToldDoesNot() {
    live(0, 6);
    stream.renewed(NEXT);
    index.drop(A);
    assertThat(held(NEXT)).isZero();
    assertThat(authoritative(NEXT)).isFalse();
    assertThat(stream.live(batch(0, 2))).isFalse();
    assertThat(held(NEXT)).isEqualTo(1);
    assertThat(authoritative(NEXT)).isTrue();
    long another = HolderIds.of(3, 0);
    stream.renewed(another);
    assertThat(held(another)).as("of a life that is over").isZero();
  }

  @Test
  void aSilenceThatIsTooLongDropsTheIndex() {
    live(0, 6);
    stream.interrupted();
    assertThat(held(A)).isZero();
    assertThat(authoritative(A)).isFalse();
    assertThat(stream.joined()).isTrue();
    replay(0, 7);
    assertThat(held(A)).isEqualTo(7);
    assertThat(authoritative(A)).isTrue();
  }

  @Test
  void moreThanMayWaitIsAskedForAgain() {
    live(0, 1);
    assertThat(stream.live(batch(2))).isTrue();
    for (int i = 3; i < 6_000; i++) {
      assertThat(stream.live(new KvBatch(i, 1_000 + i, List.of()))).isFalse();
    }
    stream.replayed(batch(1));
    stream.replayEnded();
    assertThat(stream.live(new KvBatch(6_000, 7_000, List.of()))).isTrue();
    assertThat(stream.replayFrom()).isEqualTo(2 + 4096);
    assertThat(authoritative(A)).isTrue();
  }

  @Test
  void aClosedStreamLeavesGuesses() {
    live(0, 3);
    stream.close();
    assertThat(held(A)).isEqualTo(3);
    assertThat(authoritative(A)).isFalse();
  }
}
