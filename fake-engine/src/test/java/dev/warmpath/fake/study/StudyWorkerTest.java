package dev.warmpath.fake.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StudyWorkerTest {
  private static final int BLOCK = 64;
  private static final double TINY = 1e-6;

  private final VirtualTime time = new VirtualTime();
  private final StudyWorker worker = worker(100 * BLOCK);
  private final List<String> heard = new ArrayList<>();

  private StudyWorker worker(int tokens) {
    return new StudyWorker(time, tokens, BLOCK, BlockCache.Listener.NOBODY, null);
  }

  private static StudyPrompt prompt(int promptTokens, int outputTokens, long... ids) {
    return StudyPrompt.of(0, 0, promptTokens, outputTokens, ids, BLOCK);
  }

  private static long[] ids(long first, int count) {
    return java.util.stream.LongStream.range(first, first + count).toArray();
  }

  private StudyWorker.Job send(String name, StudyPrompt prompt) {
    return worker.submit(prompt, listener(name));
  }

  private StudyWorker.Listener listener(String name) {
    return new StudyWorker.Listener() {
      @Override
      public void firstToken(int cachedTokens) {
        heard.add(
            name + " first " + cachedTokens + " at " + Math.round(time.nowMs() * 100) / 100.0);
      }

      @Override
      public void finished() {
        heard.add(name + " end");
      }
    };
  }

  private static double decodeMs(double used) {
    return -25.74 * used * used + 54.01 * used + 5.74;
  }

  @Test
  void aPromptTakesAPassAndEachFurtherTokenAnother() {
    send("a", prompt(640, 3, ids(0, 10)));
    time.runUntilIdle();

    double prefill = 4.209989e-7 * 640 * 640 + 1.518344e-2 * 640 + 16.50142;
    assertThat(time.nowMs()).isCloseTo(prefill + 2 * decodeMs(0.11), within(TINY));
    assertThat(heard).containsExactly("a first 0 at " + Math.round(prefill * 100) / 100.0, "a end");
    assertThat(worker.running()).isZero();
    assertThat(worker.usedTokens()).isZero();
  }

  @Test
  void aPassThatComputesAndGeneratesTakesBothTimes() {
    send("a", prompt(640, 100, ids(0, 10)));
    time.runUntil(500);
    double passes = Math.ceil((500 - StudyWorker.prefillMs(640)) / decodeMs(0.12));
    double boundary = StudyWorker.prefillMs(640) + passes * decodeMs(0.12);
    send("b", prompt(640, 1, ids(50, 10)));
    time.runUntil(boundary + 0.01);
    assertThat(worker.running()).isEqualTo(2);
    double end = boundary + StudyWorker.prefillMs(640) + decodeMs(0.23);
    time.runUntil(end - 0.01);
    assertThat(worker.running()).isEqualTo(2);
    time.runUntil(end + 0.01);
    assertThat(worker.running()).isEqualTo(1);
  }

  @Test
  void longPromptsAreComputedInChunksAndBlocksCanBeFoundFromTheEndOfTheirPass() {
    StudyWorker large = worker(400 * BLOCK);
    StudyWorker.Job unused = large.submit(prompt(10_000, 1, ids(0, 157)), listener("a"));
    StudyPrompt same = prompt(10_000, 1, ids(0, 157));
    double firstPass = StudyWorker.prefillMs(8_192);
    time.runUntil(firstPass - 0.01);
    assertThat(large.cachedBlocks(same)).isZero();
    time.runUntil(firstPass + 0.01);
    assertThat(large.cachedBlocks(same)).isEqualTo(128);
    time.runUntilIdle();
    assertThat(large.cachedBlocks(same)).isEqualTo(156);
    assertThat(time.nowMs())
        .isCloseTo(firstPass + StudyWorker.prefillMs(10_000 - 8_192), within(TINY));
  }

  @Test
  void atLeastOneTokenIsComputed() {
    send("a", prompt(640, 1, ids(0, 10)));
    time.runUntilIdle();
    send("b", prompt(640, 1, ids(0, 10)));
    time.runUntilIdle();
    assertThat(heard.get(2)).startsWith("b first " + 9 * BLOCK);
  }

  @Test
  void theHeadOfTheQueueHoldsUpThoseBehindItWhileItDoesNotFit() {
    send("a", prompt(60 * BLOCK, 50, ids(0, 60)));
    send("b", prompt(60 * BLOCK, 1, ids(100, 60)));
    send("c", prompt(BLOCK, 1, ids(200, 1)));
    time.runUntil(200);
    assertThat(worker.running()).isEqualTo(1);
    assertThat(worker.waiting()).isEqualTo(2);
    time.runUntilIdle();
    assertThat(heard.stream().map(event -> event.substring(0, 5)).toList())
        .containsExactly("a fir", "a end", "b fir", "b end", "c fir", "c end");
  }

  @Test
  void theDeepestBlocksOfWhatEndedFirstAreEvictedFirst() {
    send("a", prompt(40 * BLOCK, 1, ids(0, 40)));
    time.runUntilIdle();
    send("b", prompt(40 * BLOCK, 1, ids(100, 40)));
    time.runUntilIdle();
    send("c", prompt(30 * BLOCK, 1, ids(200, 30)));
    time.runUntilIdle();
    // 31 + 41 + 41 blocks were taken of 100; the answers' were given back uncached.
    assertThat(worker.cachedBlocks(prompt(50 * BLOCK, 1, ids(0, 50)))).isEqualTo(29);
    assertThat(worker.cachedBlocks(prompt(50 * BLOCK, 1, ids(100, 50)))).isEqualTo(40);
  }

  @Test
  void anAnswerIsCachedIfTheConversationGoesOnWithIt() {
    send("a", prompt(2 * BLOCK, 2 * BLOCK, ids(0, 4)));
    time.runUntilIdle();
    send("b", prompt(2 * BLOCK, 2 * BLOCK, ids(100, 2)));
    time.runUntilIdle();
    assertThat(worker.cachedBlocks(prompt(5 * BLOCK, 1, ids(0, 5)))).isEqualTo(4);
    assertThat(worker.cachedBlocks(prompt(5 * BLOCK, 1, 100, 101, 102, 103, 104))).isEqualTo(2);
  }

  @Test
  void arrivalsDuringEqualPassesAreServedAsIfEachHadBeenAnEvent() {
    for (double at : new double[] {40, 47.3, 90, 300, 300.001, 1_000}) {
      time.schedule(at, EventKind.ARRIVAL, () -> send("x", prompt(100, 30, ids(0, 2))));
    }
    send("a", prompt(640, 200, ids(10, 10)));
    time.runUntilIdle();
    List<String> ahead = List.copyOf(heard);

    heard.clear();
    VirtualTime again = new VirtualTime();
    StudyWorker watched =
        new StudyWorker(again, 100 * BLOCK, BLOCK, BlockCache.Listener.NOBODY, null);
    StudyWorkerTest other = this;
    StudyWorker.Listener[] names = new StudyWorker.Listener[1];
    names[0] =
        new StudyWorker.Listener() {
          @Override
          public void firstToken(int cachedTokens) {
            other.heard.add(
                "x first " + cachedTokens + " at " + Math.round(again.nowMs() * 100) / 100.0);
          }

          @Override
          public void finished() {
            other.heard.add("x end");
          }
        };
    for (double at : new double[] {40, 47.3, 90, 300, 300.001, 1_000}) {
      again.schedule(
          at, EventKind.ARRIVAL, () -> watched.submit(prompt(100, 30, ids(0, 2)), names[0]));
    }
    // Requests that come and go at once make every pass an event of its own.
    StudyWorker.Job a = watched.submit(prompt(640, 200, ids(10, 10)), names[0]);
    for (double at = 1; at < 3_000; at += 0.7) {
      again.schedule(
          at,
          EventKind.ARRIVAL,
          () -> {
            StudyWorker.Job nudge = watched.submit(prompt(1, 1), names[0]);
            watched.cancel(nudge);
          });
    }
    again.runUntilIdle();
    assertThat(a).isNotNull();
    assertThat(heard.stream().map(event -> event.replace("a ", "x ")).toList())
        .isEqualTo(ahead.stream().map(event -> event.replace("a ", "x ")).toList());
  }

  @Test
  void aCancelledRequestLeavesNothingBehind() {
    StudyWorker.Job running = send("a", prompt(640, 500, ids(0, 10)));
    StudyWorker.Job queued = send("b", prompt(90 * BLOCK, 1, ids(100, 90)));
    time.runUntil(100);
    worker.cancel(queued);
    worker.cancel(running);
    worker.cancel(running);
    time.runUntilIdle();
    assertThat(worker.running() + worker.waiting()).isZero();
    assertThat(worker.usedTokens()).isZero();
    assertThat(heard).hasSize(1);
    assertThat(worker.cachedBlocks(prompt(700, 1, ids(0, 11)))).isEqualTo(10);
  }

  @Test
  void aFlushForgetsWhatIsCachedAndSparesWhoRuns() {
    send("a", prompt(640, 1, ids(50, 10)));
    time.runUntilIdle();
    send("b", prompt(640, 50, ids(0, 10)));
    time.runUntil(time.nowMs() + 60);
    worker.flush();
    assertThat(worker.cachedBlocks(prompt(700, 1, ids(50, 11)))).isZero();
    assertThat(worker.cachedBlocks(prompt(700, 1, ids(0, 11)))).isZero();
    assertThat(worker.usedTokens()).isEqualTo(11 * BLOCK);
    time.runUntilIdle();
    assertThat(heard).contains("b end");
    assertThat(worker.usedTokens()).isZero();
  }

  @Test
  void pendingTokensAreThoseStillToBeComputed() {
    send("a", prompt(640, 20, ids(0, 10)));
    send("b", prompt(6_000, 1, ids(50, 94)));
    assertThat(worker.pendingTokens()).isEqualTo(6_640);
    time.runUntilIdle();
    assertThat(worker.pendingTokens()).isZero();
  }
}
