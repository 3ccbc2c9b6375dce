package dev.warmpath.fake.lab;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Threads that take turns, so that code which blocks can live in virtual time: at any moment either
 * the thread that moves the clock runs, or exactly one of these, and each gives way only where it
 * waits for the clock. What they do is therefore as deterministic as one thread.
 *
 * <p>{@link #start}, {@link #resume} and {@link #close} belong to the clock's thread, {@link #park}
 * to the others. Everything one side wrote before a switch is seen by the other after it.
 */
final class Turns implements AutoCloseable {
  /** Looks this often for the other side before it sleeps: a switch takes a microsecond or so. */
  private static final int SPINS = 200;

  /** Deep enough for a router client's call; thousands of them may wait at once. */
  private static final long STACK_BYTES = 512 << 10;

  /** What a waiting thread is unwound by when the run ends before it does. */
  private static final class RunEnded extends Error {
    private static final long serialVersionUID = 1L;

    RunEnded() {
      super("the run has ended", null, false, false);
    }
  }

  /** One thread, for as long as it has something to do; used again for the next task. */
  final class Turn implements Runnable {
    private final Thread thread;
    private @Nullable Runnable task;
    private volatile boolean mayRun;
    private volatile boolean ending;

    private Turn(int number) {
      thread = new Thread(null, this, "warmpath-lab-" + number, STACK_BYTES);
      thread.setDaemon(true);
    }

    @Override
    public void run() {
      while (!ending) {
        Runnable next = task;
        if (next != null) {
          task = null;
          perform(next);
          idle.push(this);
        }
        giveWay(this);
      }
    }

    private void perform(Runnable next) {
      try {
        next.run();
      } catch (RunEnded ended) {
        // nothing is left to do
      } catch (Throwable e) {
        failure = e;
      }
    }
  }

  private final Thread clockThread = Thread.currentThread();
  private final ArrayDeque<Turn> idle = new ArrayDeque<>();
  private final List<Turn> all = new ArrayList<>();
  private volatile @Nullable Turn current;
  private volatile @Nullable Throwable failure;

  /**
   * Runs a task on a thread of its own until it ends or waits.
   *
   * @throws IllegalStateException with what the task threw as cause
   */
  void start(Runnable task) {
    if (Thread.currentThread() != clockThread) {
      throw new IllegalStateException("only the clock's thread starts turns");
    }
    Turn turn = idle.poll();
    boolean fresh = turn == null;
    if (turn == null) {
      turn = new Turn(all.size() + 1);
      all.add(turn);
    }
    turn.task = task;
    if (fresh) {
      current = turn;
      turn.mayRun = true;
      turn.thread.start();
      awaitClock();
    } else {
      resume(turn);
    }
  }

  /** The turn of the calling thread. */
  Turn current() {
    Turn turn = current;
    if (turn == null || turn.thread != Thread.currentThread()) {
      throw new IllegalStateException("only code of the run may wait for its clock");
    }
    return turn;
  }

  /** Gives way until somebody resumes this turn. */
  void park(Turn turn) {
    giveWay(turn);
    if (turn.ending) {
      throw new RunEnded();
    }
  }

  private void giveWay(Turn turn) {
    turn.mayRun = false;
    current = null;
    LockSupport.unpark(clockThread);
    int spins = SPINS;
    while (!turn.mayRun && !turn.ending) {
      if (spins-- > 0) {
        Thread.onSpinWait();
      } else {
        LockSupport.park(this);
      }
    }
  }

  /** Lets a waiting turn go on until it ends or waits again. */
  void resume(Turn turn) {
    current = turn;
    turn.mayRun = true;
    LockSupport.unpark(turn.thread);
    awaitClock();
  }

  private void awaitClock() {
    int spins = SPINS;
    while (current != null) {
      if (spins-- > 0) {
        Thread.onSpinWait();
      } else {
        LockSupport.park(this);
      }
    }
    Throwable thrown = failure;
    if (thrown != null) {
      throw new IllegalStateException("a user of the lab failed", thrown);
    }
  }

  /** Ends all threads, one after another; those that wait are unwound. */
  @Override
  public void close() {
    for (Turn turn : all) {
      turn.ending = true;
      LockSupport.unpark(turn.thread);
      boolean interrupted = false;
      while (turn.thread.isAlive()) {
        try {
          turn.thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
