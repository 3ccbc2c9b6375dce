package dev.warmpath.pd;

import dev.warmpath.worker.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a session's events one after the other, whichever threads they come from: the thread that
 * comes first works through all that come meanwhile, and none waits. After each event it sees to it
 * that the session's next timeout finds a timer. Thread safe.
 */
final class PdTurns {
  private static final Logger log = LoggerFactory.getLogger(PdTurns.class);

  private final Scheduler scheduler;
  private final Consumer<List<PdAction>> perform;
  private final Supplier<@Nullable Long> nextTimeout;
  private final Supplier<List<PdAction>> tick;
  private final Queue<Supplier<List<PdAction>>> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private Scheduler.@Nullable Task timer;
  private long timerDue;

  /**
   * Creates turns of which none has been taken.
   *
   * @param perform does what an event asks for, in the event's turn
   * @param nextTimeout when the session's next timeout is due; null for none
   * @param tick tells the session that a timeout is due
   */
  PdTurns(
      Scheduler scheduler,
      Consumer<List<PdAction>> perform,
      Supplier<@Nullable Long> nextTimeout,
      Supplier<List<PdAction>> tick) {
    this.scheduler = scheduler;
    this.perform = perform;
    this.nextTimeout = nextTimeout;
    this.tick = tick;
  }

  /** Takes an event: in this thread, or in one that is at another. */
  void post(Supplier<List<PdAction>> event) {
    events.add(event);
    if (waiting.getAndIncrement() != 0) {
      return; // whoever is at it takes this one, too
    }
    do {
      try {
        perform.accept(Objects.requireNonNull(events.poll()).get());
        arm();
      } catch (RuntimeException e) {
        // A bug, here or in what was plugged in: the session goes on to its own timeouts.
        log.warn("A prefill/decode session failed to do as it was told", e);
      }
    } while (waiting.decrementAndGet() != 0);
  }

  /** Takes an event later. */
  void postAfter(long nanos, Supplier<List<PdAction>> event) {
    scheduler.schedule(Duration.ofNanos(nanos), () -> post(event));
  }

  /** The session is over, which its last turn finds: nothing is waited for. */
  void end() {
    Scheduler.Task armed = timer;
    if (armed != null) {
      armed.cancel();
      timer = null;
    }
  }

  /** One timer for the session's next timeout; one that turns out too early is armed anew. */
  private void arm() {
    Long due = nextTimeout.get();
    Scheduler.Task armed = timer;
    if (due == null || (armed != null && timerDue - due <= 0)) {
      return;
    }
    if (armed != null) {
      armed.cancel();
    }
    timerDue = due;
    long left = Math.max(0, due - scheduler.nanoTime());
    timer = scheduler.schedule(Duration.ofNanos(left), () -> post(this::ticked));
  }

  private List<PdAction> ticked() {
    timer = null;
    return tick.get();
  }
}
