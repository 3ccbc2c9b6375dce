package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SglangQueueTest {
  private final PassMeter meter = new PassMeter();
  private final SglangQueue queue = new SglangQueue(meter);

  private static RadixKv kv(int pages, int pageSize) {
    return new RadixKv(CoreOptions.builder().numBlocks(pages).blockSize(pageSize).build());
  }

  private static RadixSequence sequence(RadixKv kv, long id, int... prompt) {
    EngineRequest request = new EngineRequest(id, prompt, new int[] {1}, 0);
    return new RadixSequence(request, 1, kv.pageSize(), kv.pool().root());
  }

  private List<Long> ids() {
    return queue.all().stream().map(RadixSequence::id).toList();
  }

  private static void cache(RadixKv kv, int... tokens) {
    RadixSequence sequence = sequence(kv, 999, tokens);
    assertThat(kv.hold(sequence, tokens.length)).isTrue();
    sequence.computed = tokens.length;
    kv.publish(sequence);
    kv.release(sequence);
  }

  @Test
  void longestCachedPrefixFirst() {
    RadixKv kv = kv(1000, 1);
    cache(kv, 1, 2, 3, 4, 5);
    queue.append(sequence(kv, 1, 9, 8, 7));
    queue.append(sequence(kv, 2, 1, 2, 9));
    queue.append(sequence(kv, 3, 1, 2, 3, 4, 5, 6, 7));

    queue.order(SchedulePolicy.LPM, kv);

    assertThat(ids()).containsExactly(3L, 2L, 1L);
  }

  @Test
  void fcfsKeepsTheOrder() {
    RadixKv kv = kv(1000, 1);
    cache(kv, 1, 2, 3);
    queue.append(sequence(kv, 1, 9));
    queue.append(sequence(kv, 2, 1, 2, 3));

    queue.order(SchedulePolicy.FCFS, kv);

    assertThat(ids()).containsExactly(1L, 2L);
  }

  @Test
  void requestsThatBeginAlikeLetOthersGoFirst() {
    for (int pageSize : new int[] {1, 4}) {
      SglangQueue waiting = new SglangQueue(new PassMeter());
      RadixKv kv = kv(1000, pageSize);
      int[] alike = IntStream.range(0, 32).toArray();
      for (int i = 0; i < 33; i++) {
        waiting.append(sequence(kv, i, alike));
      }
      waiting.append(sequence(kv, 100, IntStream.range(100, 132).toArray()));

      waiting.order(SchedulePolicy.LPM, kv);

      List<Long> order = waiting.all().stream().map(RadixSequence::id).toList();
      assertThat(order.indexOf(100L)).as("page size %s", pageSize).isEqualTo(1);
      assertThat(order).hasSize(34).startsWith(0L).endsWith(32L);
    }
  }

  @Test
  void aRequestThatIsCachedFurtherThanThatNeedNotStepBack() {
    RadixKv kv = kv(1000, 1);
    int[] alike = IntStream.range(0, 40).toArray();
    cache(kv, alike);
    for (int i = 0; i < 3; i++) {
      queue.append(sequence(kv, i, alike));
    }
    queue.append(sequence(kv, 100, IntStream.range(100, 140).toArray()));

    queue.order(SchedulePolicy.LPM, kv);

    assertThat(ids()).containsExactly(0L, 1L, 2L, 100L);
  }

  @Test
  void aLongQueueIsNotSorted() {
    RadixKv kv = kv(1000, 1);
    cache(kv, 1, 2, 3);
    for (int i = 0; i < 128; i++) {
      queue.append(sequence(kv, i, 9, i));
    }
    queue.append(sequence(kv, 500, 1, 2, 3, 4));

    queue.order(SchedulePolicy.LPM, kv);
    assertThat(ids()).endsWith(500L);

    queue.removeHead();
    queue.order(SchedulePolicy.LPM, kv);
    assertThat(ids()).startsWith(500L);
  }

  @Test
  void whatComesBackStandsBehindABegunPrompt() {
    RadixKv kv = kv(1000, 1);
    RadixSequence begun = sequence(kv, 1, 1, 2, 3, 4);
    begun.computed = 2;
    queue.append(sequence(kv, 2, 5));
    queue.giveBack(begun);
    queue.requeue(sequence(kv, 3, 6));
    assertThat(queue.retracted()).isEqualTo(1);
    assertThat(ids()).containsExactly(1L, 3L, 2L);

    queue.order(SchedulePolicy.LPM, kv);

    assertThat(ids()).startsWith(1L);
    assertThat(meter.queuedPrefill.count()).isEqualTo(3);
    assertThat(meter.queuedPrefill.sum()).isEqualTo(6);
  }
}
