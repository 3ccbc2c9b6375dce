package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.knowledge.SharedCalls.End;
import dev.warmpath.knowledge.SharedCalls.Outcome;
import dev.warmpath.knowledge.SteppedThreads.Stepped;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedCallsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final SteppedThreads threads = new SteppedThreads();
  private final SharedCalls<String, String> calls = new SharedCalls<>(threads, threads);
  private int begun;
  private int interrupted;
  private boolean leftInterrupted;
  private @Nullable String held;

  /** A call that ends when its thread may go on. */
  private String work() {
    int number = ++begun;
    try {
      threads.pause();
      return "result " + number;
    } catch (InterruptedException e) {
      interrupted++;
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private Stepped<Outcome<String>> wants(String key) {
    return wants(key, SECOND);
  }

  private Stepped<Outcome<String>> wants(String key, Duration patience) {
    return threads.start(() -> calls.await(key, () -> held, this::work, patience));
  }

  private static Outcome<String> ended(String result, boolean joined) {
    return new Outcome<>(End.ENDED, result, joined);
  }

  @AfterEach
  void close() {
    threads.close();
  }

  @Test
  void whoNeedsTheSameAtTheSameMomentSharesACall() {
    Stepped<Outcome<String>> first = wants("a");
    Stepped<Outcome<String>> second = wants("a");
    Stepped<Void> call = threads.begin();
    Stepped<Outcome<String>> third = wants("a");
    assertThat(calls.joined()).isEqualTo(2);
    assertThat(threads.tasks).isEmpty();

    call.goOn();

    assertThat(second.goOn()).isEqualTo(ended("result 1", true));
    assertThat(first.goOn()).isEqualTo(ended("result 1", false));
    assertThat(third.goOn()).isEqualTo(ended("result 1", true));
    assertThat(interrupted).isZero();
  }

  @Test
  void whatDiffersIsCalledApart() {
    Stepped<Outcome<String>> first = wants("a");
    Stepped<Outcome<String>> other = wants("b");
    threads.begin().goOn();
    threads.begin().goOn();

    assertThat(first.goOn()).isEqualTo(ended("result 1", false));
    assertThat(other.goOn()).isEqualTo(ended("result 2", false));
  }

  @Test
  void nothingIsKeptOfACallThatEnded() {
    Stepped<Outcome<String>> first = wants("a");
    threads.begin().goOn();
    Stepped<Outcome<String>> second = wants("a");
    threads.begin().goOn();

    assertThat(second.goOn()).isEqualTo(ended("result 2", false));
    assertThat(first.goOn()).isEqualTo(ended("result 1", false));
  }

  @Test
  void whatAnotherCallHasBroughtMakesOneNeedless() {
    held = "known";

    assertThat(calls.await("a", () -> held, this::work, SECOND)).isEqualTo(ended("known", true));
    assertThat(threads.tasks).isEmpty();
  }

  @Test
  void whoBeganACallMayGoAndItGoesOnForTheOthers() {
    Stepped<Outcome<String>> first = wants("a");
    Stepped<Outcome<String>> second = wants("a");
    Stepped<Void> call = threads.begin();

    assertThat(first.interrupt()).isEqualTo(new Outcome<>(End.INTERRUPTED, null, false));
    call.goOn();

    assertThat(second.goOn()).isEqualTo(ended("result 1", true));
    assertThat(interrupted).isZero();
  }

  @Test
  void eachWaitsForAsLongAsItMay() {
    Stepped<Outcome<String>> hasty = wants("a", Duration.ofMillis(10));
    Stepped<Outcome<String>> patient = wants("a", SECOND);
    Stepped<Void> call = threads.begin();
    assertThat(threads.waits).containsExactly(Duration.ofMillis(10), SECOND);

    assertThat(hasty.goOn()).isEqualTo(new Outcome<>(End.LATE, null, false));
    assertThat(call.waits()).isTrue();
    call.goOn();

    assertThat(patient.goOn()).isEqualTo(ended("result 1", true));
  }

  @Test
  void theLastOneToGoEndsTheCall() {
    Stepped<Outcome<String>> first = wants("a");
    Stepped<Outcome<String>> second = wants("a");
    Runnable task = threads.tasks.removeFirst();
    Stepped<Void> call =
        threads.start(
            () -> {
              task.run();
              leftInterrupted = Thread.currentThread().isInterrupted();
              return null;
            });

    assertThat(first.interrupt().end()).isEqualTo(End.INTERRUPTED);
    assertThat(interrupted).isZero();
    assertThat(second.goOn()).isEqualTo(new Outcome<>(End.LATE_AND_LAST, null, true));

    call.interruptedElsewhere();
    assertThat(interrupted).isEqualTo(1);
    assertThat(leftInterrupted).as("the thread is others' too").isFalse();
  }

  @Test
  void aCallThatNobodyWaitsForAnyMoreIsJoinedByNobody() {
    wants("a").interrupt();
    Stepped<Outcome<String>> next = wants("a");

    threads.begin(); // the first, which is over before it has begun
    assertThat(begun).isZero();
    threads.begin().goOn();

    assertThat(next.goOn()).isEqualTo(ended("result 1", false));
  }

  @Test
  void aPartedCallIsLeftToThoseWhoWait() {
    Stepped<Outcome<String>> first = wants("a");
    calls.part("a"::equals);
    Stepped<Outcome<String>> second = wants("a");
    Stepped<Void> old = threads.begin();
    Stepped<Void> fresh = threads.begin();

    old.goOn();
    Stepped<Outcome<String>> third = wants("a");
    fresh.goOn();

    assertThat(first.goOn().result()).isEqualTo("result 1");
    assertThat(second.goOn()).isEqualTo(ended("result 2", false));
    assertThat(third.goOn()).isEqualTo(ended("result 2", true));
  }

  @Test
  void whereNoThreadIsFreeTheNextTriesAgain() {
    SharedCalls<String, String> full =
        new SharedCalls<>(
            threads,
            task -> {
              throw new RejectedExecutionException("full");
            });

    for (int i = 0; i < 2; i++) {
      assertThat(full.await("a", () -> null, this::work, SECOND))
          .isEqualTo(new Outcome<>(End.REFUSED, null, false));
    }
  }
}
