package dev.warmpath.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AdmissionTest {
  private final List<String> order = new ArrayList<>();

  @Test
  void admitsUpToItsLimitAndThenQueues() {
    Admission admission = new Admission(() -> 2);
    assertThat(admission.tryAdmit()).isTrue();
    assertThat(admission.tryAdmit()).isTrue();
    assertThat(admission.tryAdmit()).isFalse();
    assertThat(admission.enqueue(0, 10, () -> order.add("waiter"))).isNotNull();
    assertThat(order).isEmpty();
    admission.release();
    assertThat(order).containsExactly("waiter");
    assertThat(admission.admitted()).isEqualTo(2);
    assertThat(admission.waiting()).isZero();
  }

  @Test
  void servesHigherPrioritiesFirstAndEqualOnesInOrder() {
    Admission admission = new Admission(() -> 1);
    assertThat(admission.tryAdmit()).isTrue();
    admission.enqueue(-1, 10, () -> order.add("low"));
    admission.enqueue(0, 10, () -> order.add("normal 1"));
    admission.enqueue(5, 10, () -> order.add("high"));
    admission.enqueue(0, 10, () -> order.add("normal 2"));
    for (int i = 0; i < 4; i++) {
      admission.release();
    }
    assertThat(order).containsExactly("high", "normal 1", "normal 2", "low");
  }

  @Test
  void refusesBeyondItsQueue() {
    Admission admission = new Admission(() -> 0);
    assertThat(admission.enqueue(0, 2, () -> {})).isNotNull();
    assertThat(admission.enqueue(0, 2, () -> {})).isNotNull();
    assertThat(admission.enqueue(0, 2, () -> {})).isNull();
    assertThat(admission.waiting()).isEqualTo(2);
  }

  @Test
  void whoWaitsStaysWhereFewerMayAndMoreMayWhereThereIsRoom() {
    Admission admission = new Admission(() -> 1);
    assertThat(admission.tryAdmit()).isTrue();
    admission.enqueue(0, 2, () -> order.add("first"));
    admission.enqueue(0, 2, () -> order.add("second"));
    assertThat(admission.enqueue(0, 1, () -> {})).isNull();
    assertThat(admission.enqueue(0, 3, () -> order.add("third"))).isNotNull();
    assertThat(admission.waiting()).isEqualTo(3);
    for (int i = 0; i < 3; i++) {
      admission.release();
    }
    assertThat(order).containsExactly("first", "second", "third");
  }

  @Test
  void whoGaveUpTakesNobodysPlace() {
    Admission admission = new Admission(() -> 0);
    for (int i = 0; i < 1_000; i++) {
      Admission.Waiter waiter = admission.enqueue(0, 1, () -> {});
      assertThat(waiter).isNotNull();
      assertThat(waiter.abandon()).isTrue();
    }
    assertThat(admission.waiting()).isZero();
  }

  @Test
  void passesOverWaitersThatGaveUp() {
    Admission admission = new Admission(() -> 1);
    assertThat(admission.tryAdmit()).isTrue();
    Admission.Waiter gone = admission.enqueue(0, 10, () -> order.add("gone"));
    admission.enqueue(0, 10, () -> order.add("stays"));
    assertThat(gone.abandon()).isTrue();
    assertThat(gone.abandon()).isFalse();
    admission.release();
    assertThat(order).containsExactly("stays");
    assertThat(admission.admitted()).isEqualTo(1);
  }

  @Test
  void tellsWhoGaveUpTooLateThatItIsIn() {
    Admission admission = new Admission(() -> 1);
    assertThat(admission.tryAdmit()).isTrue();
    Admission.Waiter waiter = admission.enqueue(0, 10, () -> order.add("in"));
    admission.release();
    assertThat(waiter.abandon()).isFalse();
    admission.release();
    assertThat(admission.admitted()).isZero();
  }

  @Test
  void lettingNobodyWaitIsPossible() {
    Admission admission = new Admission(() -> 1);
    assertThat(admission.tryAdmit()).isTrue();
    assertThat(admission.enqueue(0, 0, () -> {})).isNull();
  }

  @Test
  void admitsWaitersWhenTheLimitGrows() {
    AtomicInteger limit = new AtomicInteger();
    Admission admission = new Admission(limit::get);
    admission.enqueue(0, 10, () -> order.add("in"));
    limit.set(1);
    admission.admitWaiters();
    assertThat(order).containsExactly("in");
  }

  /**
   * Threads that come, wait, give up and leave as they like: nobody is lost, the limit holds, all
   * ends at zero.
   */
  @Test
  void losesNobodyUnderConcurrency() throws Exception {
    int threads = 8;
    int rounds = 4_000;
    int limit = 3;
    Admission admission = new Admission(() -> limit);
    AtomicInteger in = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger served = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    CountDownLatch done = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      SplittableRandom random = new SplittableRandom(t);
      pool.execute(
          () -> {
            try {
              for (int i = 0; i < rounds; i++) {
                if (!admission.tryAdmit() && !waited(admission, random)) {
                  continue;
                }
                most.accumulateAndGet(in.incrementAndGet(), Math::max);
                served.incrementAndGet();
                in.decrementAndGet();
                admission.release();
              }
            } finally {
              done.countDown();
            }
          });
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    pool.shutdown();
    assertThat(most.get()).isBetween(1, limit);
    assertThat(served.get()).isPositive();
    assertThat(admission.admitted()).isZero();
    assertThat(admission.waiting()).isZero();
  }

  private static boolean waited(Admission admission, SplittableRandom random) {
    CountDownLatch admitted = new CountDownLatch(1);
    Admission.Waiter waiter = admission.enqueue(random.nextInt(-1, 2), 64, admitted::countDown);
    if (waiter == null) {
      return false;
    }
    if (random.nextInt(4) == 0 && waiter.abandon()) {
      return false;
    }
    try {
      assertThat(admitted.await(60, TimeUnit.SECONDS)).isTrue();
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
