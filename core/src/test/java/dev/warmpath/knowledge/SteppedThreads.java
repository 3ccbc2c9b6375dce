package dev.warmpath.knowledge;

import dev.warmpath.worker.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Threads that wait until a test, on its own thread, says that they go on: none runs while it looks
 * elsewhere, so that what they do has one order. As an executor it keeps tasks until it is told to
 * begin them.
 */
final class SteppedThreads implements Scheduler, Executor {
  private static final int GENEROUS_SECONDS = 60;
  private static final ThreadLocal<Stepped<?>> OWN = new ThreadLocal<>();

  /** Tasks that nobody has begun. */
  final Deque<Runnable> tasks = new ArrayDeque<>();

  /** How long those that waited would have waited, in the order in which they began to. */
  final List<Duration> waits = new ArrayList<>();

  private final List<Stepped<?>> started = new ArrayList<>();
  private long nanos = 1;

  /** One of the threads. */
  static final class Stepped<T> {
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final Semaphore stopped = new Semaphore(0);
    private final Semaphore mayGo = new Semaphore(0);
    private final Thread thread;

    Stepped(Supplier<T> work) {
      thread =
          new Thread(
              () -> {
                OWN.set(this);
                try {
                  result.complete(work.get());
                } catch (Throwable e) {
                  result.completeExceptionally(e);
                }
                stopped.release();
              });
      thread.setDaemon(true);
      thread.start();
      awaitStop();
    }

    private void awaitStop() {
      try {
        if (!stopped.tryAcquire(GENEROUS_SECONDS, TimeUnit.SECONDS)) {
          throw new AssertionError("neither waits nor ends");
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    /** Lets it go on until it ends; what it waited for has come, or its time is up. */
    T goOn() {
      mayGo.release();
      awaitStop();
      return result.join();
    }

    /** Interrupts it where it waits; it then ends. */
    T interrupt() {
      thread.interrupt();
      awaitStop();
      return result.join();
    }

    /** Waits until it has ended, since another thread interrupted it. */
    T interruptedElsewhere() {
      awaitStop();
      return result.join();
    }

    /** What it came to; it has ended. */
    T result() {
      return result.join();
    }

    boolean waits() {
      return !result.isDone();
    }
  }

  /** Starts a thread, and returns when it waits or has ended. */
  <T> Stepped<T> start(Supplier<T> work) {
    Stepped<T> stepped = new Stepped<>(work);
    started.add(stepped);
    return stepped;
  }

  /** Begins the first of the tasks, on a thread of its own. */
  Stepped<Void> begin() {
    Runnable task = tasks.removeFirst();
    return start(
        () -> {
          task.run();
          return null;
        });
  }

  /** Blocks a stepped thread until it may go on. */
  void pause() throws InterruptedException {
    Stepped<?> stepped = OWN.get();
    stepped.stopped.release();
    stepped.mayGo.acquire();
  }

  @Override
  public void execute(Runnable task) {
    tasks.addLast(task);
  }

  @Override
  public boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
    waits.add(Duration.ofNanos(nanos));
    pause();
    return latch.getCount() == 0;
  }

  void advance(Duration by) {
    nanos += by.toNanos();
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public Task schedule(Duration delay, Runnable task) {
    throw new UnsupportedOperationException("nothing is to be scheduled here");
  }

  /** Ends those that still wait. */
  @Override
  public void close() {
    started.forEach(stepped -> stepped.thread.interrupt());
  }
}
