package dev.warmpath.dispatch;

import dev.warmpath.prompt.Prompt;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * What was answered and is not learned yet. To learn from an answer is to tokenize it, which is too
 * much for a thread that carries bytes for others: such a thread only leaves it here, for an
 * executor to take. The next turn of its conversation may come before the executor has: whoever
 * reads that turn's prompt learns the answer first, or waits for the one who is at it. So a
 * prediction never misses the answer before it, and no other request waits for it.
 *
 * <p>Bounded in bytes; an answer beyond is not learned, and counted. Thread safe.
 */
final class PendingAnswers {
  static final long BUDGET_BYTES = 32L << 20;

  /** The objects around an answer, roughly. */
  private static final int OVERHEAD_BYTES = 512;

  private final Set<Lesson> pending = ConcurrentHashMap.newKeySet();
  private final AtomicLong bytes = new AtomicLong();
  private final LongAdder dropped = new LongAdder();

  /** What one answer teaches; the first who runs it learns. */
  private final class Lesson extends FutureTask<Void> {
    private final Prompt prompt;
    private final boolean rendering;
    private final long weight;

    Lesson(Prompt prompt, boolean rendering, long weight, Runnable work) {
      super(work, null);
      this.prompt = prompt;
      this.rendering = rendering;
      this.weight = weight;
    }

    boolean concerns(Prompt next) {
      return next.continues(prompt) || (rendering && next.rendersToolsLike(prompt));
    }

    /** Learns it here and now unless somebody else does, who is waited for. */
    void settle() throws InterruptedException {
      run();
      try {
        get();
      } catch (ExecutionException | CancellationException e) {
        // Counted where it happened: the request goes without.
        return;
      }
    }

    @Override
    protected void setException(Throwable error) {
      dropped.increment();
      super.setException(error);
    }

    @Override
    protected void done() {
      pending.remove(this);
      bytes.addAndGet(-weight);
    }
  }

  /**
   * Learns from an answer. Returns at once unless {@code where} runs what it is given on the
   * calling thread. What {@code work} throws is counted, not thrown.
   *
   * @param prompt what was answered
   * @param answerBytes the heap that the answer keeps until it is learned
   * @param rendering whether it tells how prompts with tools are rendered, too
   * @param work learns
   * @param where does the work; may refuse, and may cancel what it took if it is a {@link
   *     java.util.concurrent.Future}
   */
  void learn(Prompt prompt, long answerBytes, boolean rendering, Runnable work, Executor where) {
    long weight = OVERHEAD_BYTES + answerBytes + (long) Integer.BYTES * prompt.tokens();
    if (bytes.addAndGet(weight) > BUDGET_BYTES) {
      bytes.addAndGet(-weight);
      dropped.increment();
      return;
    }
    Lesson lesson = new Lesson(prompt, rendering, weight, work);
    pending.add(lesson);
    try {
      where.execute(lesson);
    } catch (RejectedExecutionException e) {
      // Whoever has begun it meanwhile may finish.
      if (lesson.cancel(false)) {
        dropped.increment();
      }
    }
  }

  /**
   * Learns every answer that matters to a prompt before it is routed. An interrupt ends the wait
   * and stays pending.
   *
   * @return whether how the prompt is rendered may have been learned, so that it is to be read anew
   */
  boolean settle(Prompt next) {
    boolean anew = false;
    for (Lesson lesson : pending) {
      if (lesson.concerns(next)) {
        try {
          lesson.settle();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return false;
        }
        anew |= lesson.rendering;
      }
    }
    return anew;
  }

  AnswerStats stats() {
    return new AnswerStats(pending.size(), bytes.get(), BUDGET_BYTES, dropped.sum());
  }
}
