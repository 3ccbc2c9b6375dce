package dev.warmpath.fake.kdn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.kdn.TransferQueue.Transfer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class TransferQueueTest {
  /** One mebibyte takes 10 ms, and every transfer 5 ms more. */
  private static KdnNetwork network(double batchWindowMs) {
    return new KdnNetwork(200, 0.5, 5, batchWindowMs);
  }

  private static final long MEBIBYTE = 1 << 20;

  @Test
  void publishedDefaultsGiveThePublishedServiceTime() {
    assertThat(KdnNetwork.DEFAULT.millis(125 * MEBIBYTE)).isCloseTo(10 + 1250, within(1e-9));
    assertThat(KnowledgeKv.DEFAULT.bytes(2048)).isEqualTo(196_608_000);
    assertThat(KnowledgeKv.DEFAULT.bytes(255)).isZero();
  }

  @Test
  void withoutWindowTransfersFollowEachOther() {
    TransferQueue queue = new TransferQueue(network(0));
    Transfer first = queue.offer(MEBIBYTE, 0);
    Transfer second = queue.offer(2 * MEBIBYTE, 4);

    assertThat(queue.advance(10)).isEmpty();
    assertThat(queue.active()).isEqualTo(1);
    assertThat(queue.pending()).isEqualTo(1);
    assertThat(queue.nextDeadlineMs()).isEqualTo(15);
    assertThat(queue.advance(100)).containsExactly(first, second);
    assertThat(second.queuedMillis()).isEqualTo(11);
    assertThat(second.endMs()).isEqualTo(40);
    assertThat(queue.queueMillis()).isEqualTo(2.2); // a fifth of 11
    assertThat(queue.nextDeadlineMs()).isInfinite();
  }

  @Test
  void batchSharesTheBandwidthAndTheNextOneWaits() {
    TransferQueue queue = new TransferQueue(network(8));
    Transfer large = queue.offer(2 * MEBIBYTE, 0);
    Transfer small = queue.offer(MEBIBYTE, 6);
    Transfer late = queue.offer(MEBIBYTE, 9);

    assertThat(queue.nextDeadlineMs()).isEqualTo(8);
    assertThat(queue.advance(8)).isEmpty();
    assertThat(queue.active()).isEqualTo(2);
    assertThat(queue.pending()).isEqualTo(1);
    assertThat(queue.advance(1000)).containsExactly(small, large, late);
    assertThat(small.endMs()).isEqualTo(8 + 5 + 20);
    assertThat(large.endMs()).isEqualTo(8 + 5 + 40);
    assertThat(late.endMs()).isEqualTo(53 + 8 + 5 + 10);
  }

  @Test
  void impossibleLinksAreRefused() {
    assertThatThrownBy(() -> new KdnNetwork(0, 1, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new KdnNetwork(1, 1.1, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new KdnNetwork(1, 1, -1, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** However often it is asked meanwhile, everything arrives once, at the same times. */
  @Property(tries = 100, seed = "21")
  void timesDependOnNothingButTheOffers(
      @ForAll long seed, @ForAll @IntRange(max = 12) int windowMs) {
    List<Double> rarely = ends(seed, windowMs, false);
    assertThat(ends(seed, windowMs, true)).isEqualTo(rarely);
    assertThat(rarely).hasSize(40).isSorted();
  }

  private static List<Double> ends(long seed, double windowMs, boolean often) {
    SplittableRandom random = new SplittableRandom(seed);
    TransferQueue queue = new TransferQueue(network(windowMs));
    List<Double> ends = new ArrayList<>();
    double now = 0;
    for (int i = 0; i < 40; i++) {
      now += random.nextInt(30);
      while (often && queue.nextDeadlineMs() < now) {
        queue.advance(queue.nextDeadlineMs()).forEach(transfer -> ends.add(transfer.endMs()));
      }
      queue.offer(random.nextInt((int) MEBIBYTE), now);
    }
    queue.advance(1e9).forEach(transfer -> ends.add(transfer.endMs()));
    return ends;
  }
}
