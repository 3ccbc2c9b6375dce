package dev.warmpath;

import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouterClosedException;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.prompt.Prompt;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Renders and tokenizes for callers whose own threads should not: those of asynchronous calls and
 * of HTTP clients' dispatchers. A bounded number of threads, so that a burst of long prompts can't
 * take all processors from what streams at the time; they end when idle.
 */
final class PromptWork implements Executor, AutoCloseable {
  private static final int MAX_WAITING = 10_000;

  private final ThreadPoolExecutor executor;

  PromptWork(int threads) {
    AtomicInteger number = new AtomicInteger();
    this.executor =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            task -> {
              Thread thread = new Thread(task, "warmpath-prompt-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
  }

  /**
   * Waits for a prompt.
   *
   * @throws RouterOverloadedException when too many wait already
   * @throws RequestCancelledException when the thread is interrupted
   */
  Prompt await(Supplier<Prompt> work) {
    Future<Prompt> prompt;
    try {
      prompt = executor.submit(work::get);
    } catch (RejectedExecutionException e) {
      if (executor.isShutdown()) {
        throw new RouterClosedException();
      }
      throw new RouterOverloadedException(
          "too many prompts wait to be tokenized (" + MAX_WAITING + ")", Duration.ofSeconds(1));
    }
    try {
      return prompt.get();
    } catch (InterruptedException e) {
      prompt.cancel(true);
      Thread.currentThread().interrupt();
      throw new RequestCancelledException("interrupted while its prompt was tokenized");
    } catch (CancellationException e) {
      throw new RouterClosedException();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException("reading the prompt failed", e.getCause());
    }
  }

  /**
   * Does some work that nobody waits for, after what waits already. Closing cancels it if it is a
   * {@link Future}.
   *
   * @throws RejectedExecutionException when too much waits, or after closing
   */
  @Override
  public void execute(Runnable work) {
    executor.execute(work);
  }

  @Override
  public void close() {
    for (Runnable task : executor.shutdownNow()) {
      if (task instanceof Future<?> future) {
        future.cancel(false);
      }
    }
  }
}
