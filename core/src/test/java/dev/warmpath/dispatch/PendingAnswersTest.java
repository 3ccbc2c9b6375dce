package dev.warmpath.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PendingAnswersTest {
  private static final PromptReader READER = reader();
  private static final Prompt FIRST = prompt("where are we and how did we come here");
  private static final Prompt NEXT =
      prompt("where are we and how did we come here", "by the long way", "and now");
  private static final Prompt OTHER =
      prompt("another conversation of three messages", "by the long way", "and now");

  private final PendingAnswers answers = new PendingAnswers();
  private final Queue<Runnable> later = new ArrayDeque<>();
  private final List<String> learned = new ArrayList<>();

  private static PromptReader reader() {
    try {
      Path tokenizer =
          Path.of(
              Objects.requireNonNull(Tokenizers.class.getResource("chatml/tokenizer.json"))
                  .toURI());
      return PromptReader.builder()
          .anyModel(
              ModelFiles.of(
                  Tokenizers.load(tokenizer),
                  "{% for m in messages %}{{ m.role }}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
                      + "assistant<|im_start|>",
                  Map.of()))
          .build();
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static Prompt prompt(String... contents) {
    StringBuilder messages = new StringBuilder();
    for (int i = 0; i < contents.length; i++) {
      messages
          .append(i == 0 ? "" : ",")
          .append("{\"role\":\"")
          .append(i % 2 == 0 ? "user" : "assistant")
          .append("\",\"content\":\"")
          .append(contents[i])
          .append("\"}");
    }
    Prompt prompt =
        READER.read(
            RouterRequest.chatCompletions("{\"model\":\"m\",\"messages\":[" + messages + "]}"));
    assertThat(prompt.blocks()).isNotNull();
    return prompt;
  }

  private void learn(Prompt prompt, String what) {
    answers.learn(prompt, 2L * what.length(), false, () -> learned.add(what), later::add);
  }

  @Test
  void whatWaitsIsLearnedByTheExecutor() {
    learn(FIRST, "a");
    assertThat(learned).isEmpty();
    assertThat(answers.stats().waiting()).isEqualTo(1);
    assertThat(answers.stats().bytes()).isPositive();
    later.remove().run();
    assertThat(learned).containsExactly("a");
    assertNothingLeft(0);
  }

  @Test
  void theNextTurnLearnsTheAnswerBeforeItAndNoOther() {
    learn(OTHER, "other");
    learn(FIRST, "mine");
    assertThat(answers.settle(NEXT)).isFalse();
    assertThat(learned).containsExactly("mine");
    later.forEach(Runnable::run);
    assertThat(learned).containsExactly("mine", "other");
    assertNothingLeft(0);
  }

  @Test
  void theSamePromptAgainDoesNotWaitForItsAnswer() {
    learn(FIRST, "a");
    answers.settle(FIRST);
    assertThat(learned).isEmpty();
  }

  @Test
  void theNextTurnWaitsForWhoeverIsAtIt() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    answers.learn(
        FIRST,
        0,
        false,
        () -> {
          begun.countDown();
          await(go);
          learned.add("a");
        },
        later::add);
    Thread learner = new Thread(later.remove());
    learner.start();
    begun.await();
    List<String> seen = new ArrayList<>();
    Thread next =
        new Thread(
            () -> {
              answers.settle(NEXT);
              seen.addAll(learned);
            });
    next.start();
    while (next.isAlive() && next.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    go.countDown();
    next.join();
    learner.join();
    assertThat(seen).containsExactly("a");
    assertNothingLeft(0);
  }

  @Test
  void anInterruptEndsTheWaitAndStays() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    Runnable hanging =
        () -> {
          begun.countDown();
          await(go);
        };
    answers.learn(FIRST, 0, false, hanging, later::add);
    Thread learner = new Thread(later.remove());
    learner.start();
    begun.await();
    Thread.currentThread().interrupt();
    assertThat(answers.settle(NEXT)).isFalse();
    assertThat(Thread.interrupted()).isTrue();
    go.countDown();
    learner.join();
    assertNothingLeft(0);
  }

  @Test
  void anAnswerThatFailsIsCountedAndFailsNobody() {
    Runnable failing =
        () -> {
          throw new IllegalStateException("no");
        };
    answers.learn(FIRST, 0, false, failing, Runnable::run);
    assertNothingLeft(1);
    answers.learn(FIRST, 0, false, failing, later::add);
    assertThat(answers.settle(NEXT)).isFalse();
    assertNothingLeft(2);
  }

  @Test
  void aRefusedAnswerIsCountedAndForgotten() {
    answers.learn(
        FIRST,
        0,
        false,
        () -> learned.add("a"),
        work -> {
          throw new RejectedExecutionException("full");
        });
    answers.settle(NEXT);
    assertThat(learned).isEmpty();
    assertNothingLeft(1);
  }

  @Test
  void whatWaitsIsBoundedInBytes() {
    long half = PendingAnswers.BUDGET_BYTES / 2;
    answers.learn(OTHER, half, false, () -> learned.add("a"), later::add);
    answers.learn(OTHER, half, false, () -> learned.add("b"), later::add);
    assertThat(later).hasSize(1);
    assertThat(answers.stats().waiting()).isEqualTo(1);
    assertThat(answers.stats().bytes()).isBetween(half, answers.stats().budgetBytes());
    assertThat(answers.stats().dropped()).isEqualTo(1);
    later.remove().run();
    answers.learn(OTHER, half, false, () -> learned.add("c"), later::add);
    later.remove().run();
    assertThat(learned).containsExactly("a", "c");
    assertNothingLeft(1);
  }

  @Test
  void cancellingWhatWaitsLeavesNothing() {
    learn(FIRST, "a");
    ((Future<?>) later.remove()).cancel(false);
    answers.settle(NEXT);
    assertThat(learned).isEmpty();
    assertNothingLeft(0);
  }

  @Test
  void aPromptThatMayRenderOtherwiseNowIsToBeReadAnew() {
    answers.learn(FIRST, 0, true, () -> learned.add("a"), later::add);
    assertThat(answers.settle(OTHER)).isFalse();
    assertThat(answers.settle(NEXT)).isTrue();
    assertThat(learned).containsExactly("a");
  }

  private void assertNothingLeft(long dropped) {
    assertThat(answers.stats())
        .isEqualTo(new AnswerStats(0, 0, PendingAnswers.BUDGET_BYTES, dropped));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
