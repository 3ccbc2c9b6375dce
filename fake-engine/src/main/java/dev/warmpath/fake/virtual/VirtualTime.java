package dev.warmpath.fake.virtual;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * A clock that jumps from event to event.
 *
 * <p>Events run in the order of their time; at equal times in the order of their {@link EventKind},
 * and then in the order in which they were scheduled. Time is a double in milliseconds and is never
 * rounded; it never goes back, so an event for a time that has passed happens now.
 *
 * <p>Not thread-safe: one thread schedules and runs everything. Events may schedule and cancel
 * others. An exception of an event leaves the {@code run} method that ran it; the event counts as
 * done and the rest of the queue is intact.
 */
public final class VirtualTime implements InstantSource {
  private static final Comparator<Event> ORDER =
      Comparator.comparingDouble((Event event) -> event.atMs)
          .thenComparing(event -> event.kind)
          .thenComparingLong(event -> event.sequence);

  /** Cancelled events stay in the queue until they outnumber the others by this many. */
  private static final int CANCELLED_SLACK = 1_024;

  private final PriorityQueue<Event> queue = new PriorityQueue<>(ORDER);
  private final Instant start;
  private double nowMs;
  private EventKind running = EventKind.ARRIVAL;
  private long scheduled;
  private long executed;
  private int cancelled;

  /** Starts at 0 ms, which is the epoch on the wall clock. */
  public VirtualTime() {
    this(Instant.EPOCH);
  }

  /**
   * Starts at 0 ms.
   *
   * @param start the wall clock's time at 0 ms
   */
  public VirtualTime(Instant start) {
    this.start = Objects.requireNonNull(start, "start");
  }

  private final class Event implements VirtualTimer {
    private final double atMs;
    private final EventKind kind;
    private final long sequence;
    private @Nullable Runnable action;

    Event(double atMs, EventKind kind, long sequence, Runnable action) {
      this.atMs = atMs;
      this.kind = kind;
      this.sequence = sequence;
      this.action = action;
    }

    @Override
    public boolean cancel() {
      if (action == null) {
        return false;
      }
      action = null;
      cancelled++;
      return true;
    }

    @Override
    public double atMs() {
      return atMs;
    }
  }

  /**
   * Returns the present time.
   *
   * @return milliseconds since the start
   */
  public double nowMs() {
    return nowMs;
  }

  /** The kind of the event that runs, or ran last. */
  EventKind running() {
    return running;
  }

  /**
   * Returns the present time for code that counts in whole nanoseconds.
   *
   * @return nanoseconds since the start, rounded down
   */
  public long nanoTime() {
    return (long) (nowMs * 1e6);
  }

  @Override
  public Instant instant() {
    return start.plusNanos(nanoTime());
  }

  /**
   * Schedules an event.
   *
   * @param atMs when it happens; a time that has passed means now
   * @param kind where it stands among events of the same time
   * @param action what happens
   * @return a handle that cancels it
   * @throws IllegalArgumentException if the time is not finite
   */
  public VirtualTimer schedule(double atMs, EventKind kind, Runnable action) {
    if (!Double.isFinite(atMs)) {
      throw new IllegalArgumentException("an event needs a finite time, was " + atMs);
    }
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(action, "action");
    Event event = new Event(Math.max(atMs, nowMs), kind, scheduled++, action);
    queue.add(event);
    if (cancelled > CANCELLED_SLACK && cancelled > queue.size() / 2) {
      queue.removeIf(candidate -> candidate.action == null);
      cancelled = 0;
    }
    return event;
  }

  /**
   * Runs the next event.
   *
   * @return false if there was none
   */
  public boolean step() {
    Event event = next();
    if (event == null) {
      return false;
    }
    queue.poll();
    run(event);
    return true;
  }

  /** Runs events until there are none. */
  public void runUntilIdle() {
    while (step()) {
      // the step is the work
    }
  }

  /**
   * Runs the events up to and including a time, and moves to it.
   *
   * @param untilMs the time to stop at, not before now
   * @throws IllegalArgumentException if the time has passed or is not finite
   */
  public void runUntil(double untilMs) {
    if (!(untilMs >= nowMs) || !Double.isFinite(untilMs)) {
      throw new IllegalArgumentException("can't run from " + nowMs + " ms until " + untilMs);
    }
    for (Event event = next(); event != null && event.atMs <= untilMs; event = next()) {
      queue.poll();
      run(event);
    }
    nowMs = untilMs;
    running = EventKind.ARRIVAL;
  }

  /**
   * Tells when the next event is due.
   *
   * @return its time, or positive infinity when there is none
   */
  public double nextEventMs() {
    Event event = next();
    return event == null ? Double.POSITIVE_INFINITY : event.atMs;
  }

  /**
   * Counts the events that have run.
   *
   * @return events since the start
   */
  public long executedEvents() {
    return executed;
  }

  private @Nullable Event next() {
    Event event = queue.peek();
    while (event != null && event.action == null) {
      queue.poll();
      cancelled--;
      event = queue.peek();
    }
    return event;
  }

  private void run(Event event) {
    Runnable action = event.action;
    event.action = null;
    nowMs = event.atMs;
    running = event.kind;
    executed++;
    if (action != null) {
      action.run();
    }
  }
}
