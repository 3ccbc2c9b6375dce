package dev.warmpath.health;

import dev.warmpath.health.WorkerPoller.Look;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.Worker;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One blocking question to a worker, on a thread of a lane. It always ends with exactly one {@link
 * WorkerPoller#ended}, whatever the transport does, provided that the transport returns at all.
 */
final class WorkerCall implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(HealthMonitor.class);

  private final WorkerPoller poller;
  private final Look look;
  private final Worker worker;
  private final Transport transport;
  private final Duration timeout;
  private final long askedNanos;

  // Confined to the poller's scheduler.
  private boolean overdue;
  private Scheduler.@Nullable Task watch;

  // Guarded by this.
  private @Nullable Thread thread;
  private boolean calledOff;
  private boolean begun;
  private long begunNanos;

  WorkerCall(
      WorkerPoller poller,
      Look look,
      Worker worker,
      Transport transport,
      Duration timeout,
      long askedNanos) {
    this.poller = poller;
    this.look = look;
    this.worker = worker;
    this.transport = transport;
    this.timeout = timeout;
    this.askedNanos = askedNanos;
  }

  /**
   * What came of it.
   *
   * @param signal how it went; {@code PASS} for any useful answer
   * @param detail in a few words
   */
  record Answer(
      ProbeSignal signal, String detail, @Nullable ProbeReport probe, @Nullable LoadReport load) {
    static Answer without(ProbeSignal signal, String detail) {
      return new Answer(signal, detail, null, null);
    }
  }

  Look look() {
    return look;
  }

  Worker worker() {
    return worker;
  }

  /** When it was decided to ask: nothing in the answer is older news than that. */
  long askedNanos() {
    return askedNanos;
  }

  /** Whether it has been given up while its thread is still in the transport. */
  boolean overdue() {
    return overdue;
  }

  void giveUp() {
    overdue = true;
    callOff();
  }

  void watch(Scheduler.Task task) {
    watch = task;
  }

  void unwatch() {
    Scheduler.Task task = watch;
    if (task != null) {
      task.cancel();
    }
  }

  /**
   * How much of the timeout and the grace after it is left; all of it while it waits for a thread.
   */
  synchronized Duration left(Duration grace, long nowNanos) {
    Duration whole = timeout.plus(grace);
    return begun ? whole.minusNanos(nowNanos - begunNanos) : whole;
  }

  /** Interrupts it, or keeps it from beginning. */
  synchronized void callOff() {
    calledOff = true;
    if (thread != null) {
      thread.interrupt();
    }
  }

  @Override
  public void run() {
    Answer answer = Answer.without(ProbeSignal.INCONCLUSIVE, "the look itself failed");
    try {
      if (enter()) {
        answer = ask();
      }
    } finally {
      leave();
      poller.ended(this, answer);
    }
  }

  private synchronized boolean enter() {
    if (calledOff) {
      return false;
    }
    thread = Thread.currentThread();
    begun = true;
    begunNanos = poller.nanoTime();
    return true;
  }

  private synchronized void leave() {
    if (thread != null) {
      thread = null;
      // An interrupt that came as the call ended must not hit the thread's next task.
      Thread.interrupted();
    }
  }

  private Answer ask() {
    try {
      return switch (look) {
        case CAPABILITIES ->
            new Answer(ProbeSignal.PASS, "", transport.probe(worker, timeout), null);
        case LOAD -> new Answer(ProbeSignal.PASS, "", null, transport.load(worker, timeout));
        case HEALTH -> {
          HealthReport report = transport.health(worker, timeout);
          yield Answer.without(
              report.healthy() ? ProbeSignal.PASS : ProbeSignal.UNHEALTHY, report.detail());
        }
      };
    } catch (TransportException e) {
      log.debug("{} of {} failed: {}", look, worker, e.getMessage());
      return Answer.without(
          switch (e.kind()) {
            case CONNECT -> ProbeSignal.REFUSED;
            case CANCELLED -> ProbeSignal.INCONCLUSIVE;
            default -> ProbeSignal.SLOW;
          },
          String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      log.warn("{} of {} failed in its transport", look, worker, e);
      return Answer.without(ProbeSignal.INCONCLUSIVE, "the transport failed: " + e);
    }
  }
}
