package dev.warmpath.observe;

import dev.warmpath.health.WorkerView;
import dev.warmpath.worker.Scheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what a client knew of its workers' loads in an SQLite file, for the question "what was
 * going on last night". Samples every rank at an interval, writes in batches, prunes what is old;
 * all of it on a thread of its own, so that no request and no probe ever waits for a disk.
 *
 * <p>Needs {@code org.xerial:sqlite-jdbc} on the class path. Where that is missing, or the file
 * can't be opened or written, this is told once, samples are dropped, and the file is tried again
 * at each batch: a client never fails for its history.
 */
public final class LoadHistory implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LoadHistory.class);

  private static final Duration PRUNE_INTERVAL = Duration.ofHours(1);

  private final LoadHistorySettings settings;
  private final Supplier<List<WorkerView>> workers;
  private final InstantSource clock;
  private final Scheduler scheduler;
  private final boolean ownsScheduler;
  private final Consumer<String> warnings;

  // Confined to the scheduler.
  private final List<LoadSample> pending = new ArrayList<>();
  private @Nullable LoadDatabase database;
  private Scheduler.@Nullable Task next;
  private long lastBatchNanos;
  private long lastPruneNanos;
  private boolean pruned;
  private boolean complained;

  private volatile boolean closed;

  private LoadHistory(
      LoadHistorySettings settings,
      Supplier<List<WorkerView>> workers,
      InstantSource clock,
      @Nullable Scheduler scheduler,
      Consumer<String> warnings) {
    this.settings = settings;
    this.warnings = warnings;
    this.workers = workers;
    this.clock = clock;
    this.ownsScheduler = scheduler == null;
    this.scheduler = scheduler == null ? Scheduler.onThread("warmpath-history") : scheduler;
    this.lastBatchNanos = this.scheduler.nanoTime();
  }

  /**
   * Starts to keep a history.
   *
   * @param workers what is known of them now, as {@code HealthMonitor.views()} tells
   * @param clock the time that rows bear
   * @param scheduler whose thread samples and writes; a daemon thread of its own where null. It
   *     stays the caller's
   */
  public static LoadHistory start(
      LoadHistorySettings settings,
      Supplier<List<WorkerView>> workers,
      InstantSource clock,
      @Nullable Scheduler scheduler) {
    return start(settings, workers, clock, scheduler, log::warn);
  }

  static LoadHistory start(
      LoadHistorySettings settings,
      Supplier<List<WorkerView>> workers,
      InstantSource clock,
      @Nullable Scheduler scheduler,
      Consumer<String> warnings) {
    LoadHistory history = new LoadHistory(settings, workers, clock, scheduler, warnings);
    history.scheduler.execute(history::look);
    return history;
  }

  /**
   * Reads a history, while others may write it.
   *
   * @param worker one worker's address, or null for all
   * @param since the oldest rows wanted
   * @throws IOException when there is none, or it can't be read
   */
  public static List<LoadSample> read(Path file, @Nullable String worker, Instant since)
      throws IOException {
    try (LoadDatabase database = LoadDatabase.read(file)) {
      return database.rows(worker, since);
    } catch (SQLException e) {
      throw new IOException("the load history in " + file + " can't be read: " + said(e), e);
    } catch (LinkageError e) {
      throw new IOException("reading a load history takes org.xerial:sqlite-jdbc", e);
    }
  }

  private void look() {
    next = scheduler.schedule(settings.interval(), this::look);
    pending.addAll(LoadSample.of(workers.get(), clock.instant()));
    long now = scheduler.nanoTime();
    // Half an interval early rather than half an interval late.
    long due = settings.batch().minus(settings.interval().dividedBy(2)).toNanos();
    if (now - lastBatchNanos >= due) {
      lastBatchNanos = now;
      flush(now);
    }
  }

  private void flush(long now) {
    try {
      LoadDatabase open = database;
      if (open == null) {
        open = LoadDatabase.write(settings.file());
        database = open;
      }
      if (!pending.isEmpty()) {
        open.write(pending);
      }
      if (!pruned || now - lastPruneNanos >= PRUNE_INTERVAL.toNanos()) {
        pruned = true;
        lastPruneNanos = now;
        open.prune(clock.instant().minus(settings.keep()));
      }
    } catch (SQLException | LinkageError e) {
      complain(e);
      drop();
    } finally {
      pending.clear();
    }
  }

  private void complain(Throwable e) {
    if (complained) {
      log.debug("The load history in {} still can't be written", settings.file(), e);
      return;
    }
    complained = true;
    warnings.accept(
        e instanceof LinkageError
            ? "No load history is kept: it takes org.xerial:sqlite-jdbc on the class path"
            : "No load history is kept in "
                + settings.file()
                + " for now, and the client goes on without: "
                + said(e));
  }

  private static String said(Throwable e) {
    return String.valueOf(e.getMessage());
  }

  /** Lets go of the file, to open it anew at the next batch. */
  private void drop() {
    LoadDatabase open = database;
    database = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException e) {
        log.debug("Closing the load history failed", e);
      }
    }
  }

  /** Writes what is pending and closes the file. Idempotent. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    CountDownLatch done = new CountDownLatch(1);
    scheduler.execute(
        () -> {
          try {
            Scheduler.Task looking = next;
            if (looking != null) {
              looking.cancel();
            }
            if (!pending.isEmpty()) {
              flush(scheduler.nanoTime());
            }
            drop();
          } finally {
            done.countDown();
          }
        });
    if (ownsScheduler) {
      try {
        if (!done.await(2, TimeUnit.SECONDS)) {
          log.warn("The load history in {} was not written to the end", settings.file());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      scheduler.close();
    }
  }
}
