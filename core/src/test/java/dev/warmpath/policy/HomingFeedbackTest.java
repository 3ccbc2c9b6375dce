package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.index.BranchPath;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.prompt.Prompt;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A visit ends once, whoever ends it. */
class HomingFeedbackTest {
  private static final int WORKERS = 4;
  private static final Prompt PROMPT = HomingPrompts.of("abc");

  private final RoutingEnvironment environment =
      RoutingEnvironment.builder().branches(BranchTrie.builder().ticker(() -> 0).build()).build();
  private final HomingFeedback feedback = new HomingFeedback(environment);

  private double counted() {
    BranchPath path = new BranchPath();
    environment.branches().walk(PROMPT.contentKeys(), path);
    return path.total() - 1;
  }

  private double uncached() {
    return environment.prefills().uncachedTokens();
  }

  @Test
  void theSecondAnswerTeachesNothing() {
    HomingFeedback.Visit visit = feedback.dispatched(PROMPT);
    visit.served(0, WORKERS);
    double once = uncached();
    visit.served(0, WORKERS);
    visit.withdraw();
    assertThat(uncached()).isEqualTo(once);
    assertThat(counted()).isEqualTo(1);
  }

  @Test
  void anAnswerAfterWithdrawalTeachesNothing() {
    double before = uncached();
    HomingFeedback.Visit visit = feedback.dispatched(PROMPT);
    visit.withdraw();
    visit.served(0, WORKERS);
    assertThat(uncached()).isEqualTo(before);
    assertThat(counted()).isZero();
  }

  @Test
  void ofAnAnswerAndAWithdrawalAtOnceOneCounts() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    CyclicBarrier start = new CyclicBarrier(2);
    try {
      for (int round = 0; round < 300; round++) {
        double uncached = uncached();
        double counted = counted();
        HomingFeedback.Visit visit = feedback.dispatched(PROMPT);
        Future<?> answer = pool.submit(() -> end(start, () -> visit.served(0, WORKERS)));
        Future<?> withdrawal = pool.submit(() -> end(start, visit::withdraw));
        answer.get(30, TimeUnit.SECONDS);
        withdrawal.get(30, TimeUnit.SECONDS);
        boolean served = uncached() != uncached;
        assertThat(counted()).isEqualTo(counted + (served ? 1 : 0));
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static Void end(CyclicBarrier start, Runnable action) throws Exception {
    start.await(30, TimeUnit.SECONDS);
    action.run();
    return null;
  }
}
