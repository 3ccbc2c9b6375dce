package dev.warmpath.prompt;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * How long the client's own work on requests takes, stage by stage: for finding out, on a running
 * client, where time goes. Off until {@link #start}; a request costs one read of a flag a stage
 * then. Thread safe.
 */
public final class StageTimers {
  /** A part of the work. */
  public enum Stage {
    /** Reading the body's JSON. */
    PARSE,
    /** Rendering the chat template. */
    RENDER,
    /** Making tokens of the text, as far as they are not cached. */
    TOKENIZE,
    /** Chaining hashes over blocks of tokens, likewise. */
    HASH,
    /** The policy's choice. */
    SELECT;

    /** The lower-case name used in labels. */
    private final String label = name().toLowerCase(Locale.ROOT);

    public String label() {
      return label;
    }
  }

  /**
   * What a stage came to since the timers were started.
   *
   * @param count how often it was run; more than once a request where one is rendered for several
   *     engines
   * @param total the time of all runs
   * @param longest the time of the longest
   */
  public record Times(long count, Duration total, Duration longest) {}

  private static final class Timer {
    final LongAdder count = new LongAdder();
    final LongAdder nanos = new LongAdder();
    final LongAccumulator longest = new LongAccumulator(Math::max, 0);

    Times times() {
      return new Times(count.sum(), Duration.ofNanos(nanos.sum()), Duration.ofNanos(longest.get()));
    }
  }

  private static final long OFF = Long.MIN_VALUE;

  private final LongSupplier ticker;
  private volatile Map<Stage, Timer> timers = Map.of();
  private volatile boolean on;

  /**
   * Timers that are off.
   *
   * @param ticker time in nanoseconds, as {@link System#nanoTime} gives it
   */
  public StageTimers(LongSupplier ticker) {
    this.ticker = ticker;
  }

  /** Begins anew, from zero. */
  public void start() {
    Map<Stage, Timer> fresh = new EnumMap<>(Stage.class);
    for (Stage stage : Stage.values()) {
      fresh.put(stage, new Timer());
    }
    timers = fresh;
    on = true;
  }

  /** Counts no further; what was counted stays to be read. */
  public void stop() {
    on = false;
  }

  /** Whether they count. */
  public boolean running() {
    return on;
  }

  /** What each stage came to; empty where they were never started. */
  public Map<Stage, Times> times() {
    Map<Stage, Times> times = new EnumMap<>(Stage.class);
    timers.forEach((stage, timer) -> times.put(stage, timer.times()));
    return times;
  }

  /** A stage begins; what this gives is for {@link #end}. */
  public long begin() {
    return on ? ticker.getAsLong() : OFF;
  }

  /** A stage that {@link #begin} told of has ended. */
  public void end(Stage stage, long begun) {
    Timer timer = begun == OFF ? null : timers.get(stage);
    if (timer != null) {
      long took = Math.max(0, ticker.getAsLong() - begun);
      timer.count.increment();
      timer.nanos.add(took);
      timer.longest.accumulate(took);
    }
  }
}
