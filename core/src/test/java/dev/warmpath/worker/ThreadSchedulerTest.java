package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadSchedulerTest {
  private final Scheduler scheduler = Scheduler.onThread("test-scheduler");

  @AfterEach
  void close() {
    scheduler.close();
  }

  @Test
  void tasksRunInOrderOnOneDaemonThread() throws Exception {
    List<Integer> ran = new ArrayList<>();
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    for (int i = 0; i < 100; i++) {
      int number = i;
      scheduler.execute(() -> ran.add(number));
    }
    scheduler.execute(() -> thread.complete(Thread.currentThread()));
    assertThat(thread.get().isDaemon()).isTrue();
    assertThat(thread.get().getName()).isEqualTo("test-scheduler");
    assertThat(ran).hasSize(100).isSorted();
  }

  @Test
  void aTaskThatThrowsDoesNotStopTheNext() throws Exception {
    CompletableFuture<String> next = new CompletableFuture<>();
    scheduler.execute(
        () -> {
          throw new IllegalStateException("a bug in the task");
        });
    scheduler.execute(() -> next.complete("ran"));
    assertThat(next.get()).isEqualTo("ran");
  }

  @Test
  void aCancelledTaskDoesNotRun() throws Exception {
    CountDownLatch hold = new CountDownLatch(1);
    List<String> ran = new ArrayList<>();
    scheduler.execute(() -> await(hold));
    Scheduler.Task cancelled = scheduler.schedule(Duration.ZERO, () -> ran.add("cancelled"));
    CompletableFuture<Void> last = new CompletableFuture<>();
    scheduler.execute(() -> last.complete(null));
    cancelled.cancel();
    hold.countDown();
    last.get();
    assertThat(ran).isEmpty();
  }

  @Test
  void closingInterruptsAndDropsTheRest() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    scheduler.execute(
        () -> {
          thread.complete(Thread.currentThread());
          entered.countDown();
          interrupted.complete(await(new CountDownLatch(1)));
        });
    List<String> ran = new ArrayList<>();
    scheduler.execute(() -> ran.add("dropped"));
    entered.await();
    scheduler.close();
    assertThat(interrupted.get()).isTrue();
    thread.get().join();
    scheduler.schedule(Duration.ofDays(1), () -> ran.add("late")).cancel();
    scheduler.close();
    assertThat(ran).isEmpty();
  }

  @Test
  void aTaskMayCloseItsScheduler() throws Exception {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    scheduler.execute(
        () -> {
          scheduler.close();
          thread.complete(Thread.currentThread());
        });
    thread.get().join();
  }

  private static boolean await(CountDownLatch latch) {
    try {
      latch.await();
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }
}
