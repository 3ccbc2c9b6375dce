package dev.warmpath.policy;

import dev.warmpath.worker.StableHash;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The working memory of a client's decisions: boards are borrowed for one call and given back. Lock
 * free; a decision that finds none makes one, and one too many is left to the collector. Not a
 * ThreadLocal: callers may be a million virtual threads.
 */
final class BoardPool {
  /** References apart, so that two threads' places share no cache line. */
  private static final int STRIDE = 16;

  private static final int PROBES = 4;

  private final PrefixSource prefixes;
  private final Complaint complaint = new Complaint();
  private final AtomicReferenceArray<Board> places;
  private final int mask;

  BoardPool(PrefixSource prefixes) {
    this.prefixes = prefixes;
    int count = Integer.highestOneBit(Runtime.getRuntime().availableProcessors()) * 4;
    this.places = new AtomicReferenceArray<>(count * STRIDE);
    this.mask = count - 1;
  }

  Board borrow() {
    int home = home();
    for (int i = 0; i < PROBES; i++) {
      int place = (home + i & mask) * STRIDE;
      // Most misses are seen by the read alone.
      if (places.get(place) != null) {
        Board board = places.getAndSet(place, null);
        if (board != null) {
          return board;
        }
      }
    }
    return new Board(prefixes.newQuery(), complaint);
  }

  void giveBack(Board board) {
    board.clear();
    int home = home();
    for (int i = 0; i < PROBES; i++) {
      if (places.compareAndSet((home + i & mask) * STRIDE, null, board)) {
        return;
      }
    }
  }

  private static int home() {
    return (int) StableHash.mix(Thread.currentThread().getId());
  }
}
