package dev.warmpath.knowledge;

import dev.warmpath.api.RouterListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/** Counts what this client sends to each rank, over the last minute. Thread safe. */
final class RequestRates implements RouterListener {
  private static final int SECONDS = 60;
  private static final int MAX_RANKS = 16_384;

  private final LongSupplier ticker;
  private final long origin;
  private final Map<String, Minute> byRank = new ConcurrentHashMap<>();

  RequestRates(LongSupplier ticker) {
    this.ticker = ticker;
    this.origin = ticker.getAsLong();
  }

  @Override
  public void onAttempt(RequestEvent event) {
    String rank = event.worker();
    if (rank != null) {
      count(rank);
    }
  }

  void count(String rank) {
    Minute minute = byRank.get(rank);
    if (minute == null) {
      if (byRank.size() >= MAX_RANKS) {
        byRank.clear(); // ranks come and go; counting begins anew
      }
      minute = byRank.computeIfAbsent(rank, name -> new Minute());
    }
    minute.count(second());
  }

  /** Requests a second that were sent to a rank, as a mean over the last minute. */
  double perSecond(String rank) {
    Minute minute = byRank.get(rank);
    return minute == null ? 0 : minute.sum(second()) / (double) SECONDS;
  }

  private long second() {
    return Math.floorDiv(ticker.getAsLong() - origin, 1_000_000_000L);
  }

  /** A minute's counts, second by second. */
  private static final class Minute {
    private final ReentrantLock lock = new ReentrantLock();
    private final int[] counts = new int[SECONDS]; // under lock
    private long newest; // under lock
    private int sum; // under lock
    private boolean begun; // under lock

    void count(long second) {
      lock.lock();
      try {
        moveTo(second);
        counts[Math.floorMod(second, SECONDS)]++;
        sum++;
      } finally {
        lock.unlock();
      }
    }

    int sum(long second) {
      lock.lock();
      try {
        moveTo(second);
        return sum;
      } finally {
        lock.unlock();
      }
    }

    private void moveTo(long second) {
      if (!begun) {
        begun = true;
        newest = second;
      }
      for (int step = 0; newest - second < 0 && step < SECONDS; step++) {
        newest++;
        int at = Math.floorMod(newest, SECONDS);
        sum -= counts[at];
        counts[at] = 0;
      }
      if (newest - second < 0) {
        newest = second;
      }
    }
  }
}
