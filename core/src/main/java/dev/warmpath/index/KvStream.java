package dev.warmpath.index;

import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The batches of one rank in their order, whatever the way they come: it leaves out what it has
 * had, notices what is missing and when the engine has begun to count anew, and says what to ask
 * for again.
 *
 * <p>Whoever joins late, or misses something, asks for a {@linkplain #replayFrom replay}. What
 * arrives meanwhile waits, a bounded number of batches. If the replay begins too late, or there is
 * none, the rank's index is dropped, and what follows is known not to be all until the engine
 * restarts or empties its cache.
 *
 * <p>A batch with an old number is one told twice if it is not younger than the last, and else that
 * of an engine that has restarted. Safe for any number of threads.
 */
public final class KvStream {
  private static final int MOST_WAITING = 4096;
  private static final long UNKNOWN = -1;

  private final ReentrantLock lock = new ReentrantLock();
  private final KvRank rank;
  private final InstantSource clock;
  private final ArrayDeque<KvBatch> waiting = new ArrayDeque<>();

  /** The number of the batch to come, or unknown. */
  private long next = UNKNOWN;

  private double epochSeconds;
  private double lagSeconds = Double.NaN;
  private volatile EventRate rate = EventRate.NONE;
  private boolean replaying;

  /**
   * Whether the replay begins with the batch before the next, by which it shows whether it is still
   * the same life of the engine.
   */
  private boolean checking;

  /** Whether the registry knows of a restart that the numbers have not shown yet. */
  private boolean restartExpected;

  /** Whether the numbers have shown a restart that the registry does not know of yet. */
  private boolean restartUnheard;

  private long batches;
  private long events;
  private long duplicates;
  private long gaps;
  private long replays;
  private long losses;
  private long restarts;
  private volatile @Nullable Stats stats;

  /**
   * Creates a stream of which nothing has come.
   *
   * @param rank takes in what comes; belongs to the stream from now on
   */
  public KvStream(KvRank rank) {
    this(rank, InstantSource.system());
  }

  /**
   * The same by another clock.
   *
   * @param clock tells how late batches come, and how fast
   */
  public KvStream(KvRank rank, InstantSource clock) {
    this.rank = rank;
    this.clock = clock;
  }

  /**
   * What has come so far.
   *
   * @param batches applied batches
   * @param events applied events
   * @param duplicates batches that had come before
   * @param gaps how often batches were missing
   * @param replays how often a replay was asked for
   * @param losses how often the index was dropped because something missing could not be had
   * @param restarts how often the engine began to count anew
   * @param complete whether all is known of what the rank holds
   * @param lastEpochSeconds when the last batch was told, by the engine's clock
   * @param lagSeconds how long after it was told the last batch was applied, by the engine's clock
   *     and this one's, which may differ; NaN before the first
   * @param eventsPerSecond how many events come at this moment, over some ten seconds
   * @param rank what the events were
   */
  public record Stats(
      long batches,
      long events,
      long duplicates,
      long gaps,
      long replays,
      long losses,
      long restarts,
      boolean complete,
      double lastEpochSeconds,
      double lagSeconds,
      double eventsPerSecond,
      KvRank.Counts rank) {

    private Stats at(double perSecond) {
      return new Stats(
          batches,
          events,
          duplicates,
          gaps,
          replays,
          losses,
          restarts,
          complete,
          lastEpochSeconds,
          lagSeconds,
          perSecond,
          rank);
    }
  }

  /** The figures of a moment not long ago. */
  public Stats stats() {
    Stats known = stats;
    if (known != null) {
      return known.at(rate.at(clock.millis()));
    }
    lock.lock();
    try {
      return publish();
    } finally {
      lock.unlock();
    }
  }

  /** The figures as they are, which are published; the lock must be held. */
  private Stats publish() {
    Stats made =
        new Stats(
            batches,
            events,
            duplicates,
            gaps,
            replays,
            losses,
            restarts,
            rank.complete(),
            epochSeconds,
            lagSeconds,
            rate.perSecond(),
            rank.counts());
    stats = made;
    return made;
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      T result = action.get();
      publish();
      return result;
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable action) {
    locked(
        () -> {
          action.run();
          return this;
        });
  }

  /**
   * Begins to listen, or to listen again, where replays can be had.
   *
   * @return whether to ask for one now, unless one is under way: for what was told before, or
   *     meanwhile
   */
  public boolean joined() {
    return locked(
        () -> {
          if (replaying) {
            return false;
          }
          checking = next > 0;
          return replay(Math.max(0, next));
        });
  }

  /**
   * Takes in a batch that was just told.
   *
   * @return whether a replay is wanted, see {@link #replayFrom}; the batch then waits
   */
  public boolean live(KvBatch batch) {
    return locked(() -> accept(batch));
  }

  private boolean accept(KvBatch batch) {
    if (batch.sequence() == KvBatch.UNNUMBERED) {
      apply(batch, false);
      return false;
    }
    if (replaying) {
      if (waiting.size() < MOST_WAITING) {
        waiting.add(batch);
      }
      return false;
    }
    if (batch.sequence() < next) {
      if (batch.epochSeconds() <= epochSeconds) {
        duplicates++;
        return false;
      }
      restarted();
    }
    if (batch.sequence() > Math.max(0, next)) {
      gaps += next == UNKNOWN ? 0 : 1;
      waiting.add(batch);
      return replay(Math.max(0, next));
    }
    apply(batch);
    return false;
  }

  private void restarted() {
    restarts++;
    checking = false;
    restartUnheard = !restartExpected;
    restartExpected = false;
    rank.lose();
    next = 0;
  }

  private boolean replay(long from) {
    next = from;
    replaying = true;
    replays++;
    return true;
  }

  private void apply(KvBatch batch) {
    if (batch.sequence() == 0) {
      restartExpected = false;
      rank.begin();
    }
    apply(batch, true);
    next = batch.sequence() + 1;
  }

  private void apply(KvBatch batch, boolean counted) {
    rank.apply(batch.events(), counted);
    batches++;
    events += batch.events().size();
    epochSeconds = Math.max(epochSeconds, batch.epochSeconds());
    long now = clock.millis();
    lagSeconds = now / 1e3 - batch.epochSeconds();
    rate = rate.plus(batch.events().size(), now);
  }

  /** The number of the batch from which on a replay is wanted. */
  public long replayFrom() {
    return locked(() -> checking ? next - 1 : Math.max(0, next));
  }

  /** Takes in a batch of a replay; without effect if none is under way. */
  public void replayed(KvBatch batch) {
    locked(
        () -> {
          if (checking) {
            checking = batch.sequence() != next - 1 || batch.epochSeconds() != epochSeconds;
          } else if (replaying) {
            fill(batch);
          }
        });
  }

  private void fill(KvBatch batch) {
    if (batch.sequence() < next) {
      return;
    }
    if (batch.sequence() > next) {
      missed();
    }
    apply(batch);
  }

  private void missed() {
    losses++;
    rank.lose();
  }

  /**
   * A replay came to its end. What waited is taken in.
   *
   * @return whether another one is wanted, because the engine was found to have restarted
   */
  public boolean replayEnded() {
    return locked(
        () -> {
          if (checking) {
            restarted();
            return replay(0);
          }
          if (replaying && next == 0 && waiting.isEmpty()) {
            // Nothing was ever told, so there is nothing in the cache.
            rank.begin();
          }
          resume();
          return false;
        });
  }

  /** A replay can't be had. What waited is taken in, and is known not to be all. */
  public void replayFailed() {
    locked(
        () -> {
          if (waiting.isEmpty() && next == 0 && !rank.complete()) {
            next = UNKNOWN;
          }
          checking = false;
          resume();
        });
  }

  private void resume() {
    replaying = false;
    for (KvBatch batch = waiting.poll(); batch != null; batch = waiting.poll()) {
      fill(batch);
    }
  }

  /**
   * What is told can't be heard for too long: what is known is dropped, and the stream begins as if
   * nothing had come.
   */
  public void interrupted() {
    locked(
        () -> {
          waiting.clear();
          replaying = false;
          checking = false;
          if (next != UNKNOWN) {
            next = UNKNOWN;
            missed();
          }
        });
  }

  /**
   * The registry takes the rank for another incarnation. If the numbers have shown that already,
   * what is known is the new one's; else it is dropped.
   *
   * @param holderId the rank of the new incarnation
   */
  public void renewed(long holderId) {
    locked(
        () -> {
          rank.moveTo(holderId);
          if (restartUnheard) {
            restartUnheard = false;
            return;
          }
          restartExpected = true;
          rank.lose();
          waiting.clear();
          replaying = false;
          checking = false;
          next = next == UNKNOWN ? UNKNOWN : 0;
        });
  }

  /** Ends the stream; what is known of the rank is from now on like any guess. */
  public void close() {
    locked(rank::close);
  }
}
