package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class WriteCombinerTest {
  @Test
  void runsAnUpdateOnTheCallersThreadWhenNobodyWrites() {
    WriteCombiner combiner = new WriteCombiner(8);
    List<Thread> ran = new ArrayList<>();

    combiner.submit(() -> ran.add(Thread.currentThread()));

    assertThat(ran).containsExactly(Thread.currentThread());
  }

  @Test
  void leavesAnUpdateToTheWriterAndReturnsAtOnce() throws Exception {
    WriteCombiner combiner = new WriteCombiner(8);
    List<String> ran = new ArrayList<>();
    Writer writer = new Writer(combiner);

    combiner.submit(() -> ran.add("first"));
    combiner.submit(() -> ran.add("second"));
    assertThat(ran).isEmpty();

    writer.finish();
    assertThat(ran).containsExactly("first", "second");
    assertThat(combiner.idle()).isTrue();
  }

  @Test
  void shedsWhatNoRoomIsLeftForAndCountsIt() throws Exception {
    WriteCombiner combiner = new WriteCombiner(8);
    List<Integer> ran = new ArrayList<>();
    Writer writer = new Writer(combiner);
    for (int i = 0; i < 10; i++) {
      int number = i;
      combiner.submit(() -> ran.add(number));
    }

    writer.finish();

    assertThat(ran).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(combiner.shed()).isEqualTo(2);
  }

  @Test
  void aCallSeesTheUpdatesThatWereLeftBefore() throws Exception {
    WriteCombiner combiner = new WriteCombiner(8);
    List<String> ran = new ArrayList<>();
    Writer writer = new Writer(combiner);
    combiner.submit(() -> ran.add("update"));

    writer.finish();

    assertThat(combiner.call(() -> List.copyOf(ran))).containsExactly("update");
  }

  @Test
  void anUpdateThatFailsFailsNobodyElse() {
    WriteCombiner combiner = new WriteCombiner(8);
    List<String> ran = new ArrayList<>();

    combiner.submit(
        () -> {
          throw new IllegalStateException("broken update");
        });
    combiner.submit(() -> ran.add("next"));

    assertThat(ran).containsExactly("next");
  }

  @Test
  void runsEveryUpdateOnceAndThoseOfAThreadInOrder() throws Exception {
    int threads = 4;
    int updates = 5_000;
    // Larger than all updates together, so that none is shed.
    WriteCombiner combiner = new WriteCombiner(1 << 15);
    int[] last = new int[threads];
    int[] outOfOrder = new int[1];
    CyclicBarrier start = new CyclicBarrier(threads);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> done = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int thread = t;
      done.add(
          pool.submit(
              () -> {
                start.await();
                for (int i = 1; i <= updates; i++) {
                  int number = i;
                  combiner.submit(
                      () -> {
                        outOfOrder[0] += last[thread] == number - 1 ? 0 : 1;
                        last[thread] = number;
                      });
                }
                return null;
              }));
    }
    for (Future<?> future : done) {
      future.get();
    }
    pool.shutdown();

    assertThat(combiner.idle()).as("nothing is left behind").isTrue();
    assertThat(last).containsOnly(updates);
    assertThat(outOfOrder[0]).isZero();
  }

  /** A thread that is in the middle of a write. */
  private static final class Writer {
    private final CountDownLatch finish = new CountDownLatch(1);
    private final Thread thread;

    Writer(WriteCombiner combiner) throws InterruptedException {
      CountDownLatch writing = new CountDownLatch(1);
      thread =
          new Thread(
              () ->
                  combiner.submit(
                      () -> {
                        writing.countDown();
                        awaitFinish();
                      }));
      thread.start();
      writing.await();
    }

    private void awaitFinish() {
      try {
        finish.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    void finish() throws InterruptedException {
      finish.countDown();
      thread.join();
    }
  }
}
