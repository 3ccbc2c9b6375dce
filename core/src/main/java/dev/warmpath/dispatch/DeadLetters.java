package dev.warmpath.dispatch;

import dev.warmpath.api.RouterListener.DeadLetter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the latest requests that finally failed, within a budget of body bytes, for the application
 * to take and send again. Keeps nothing unless given a budget, since bodies are private. Thread
 * safe.
 */
public final class DeadLetters {
  private static final int OVERHEAD_BYTES = 1_024;

  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<DeadLetter> letters = new ArrayDeque<>();
  private long bytes;
  private long dropped;

  /** Creates an empty store of at most {@code maxBytes}; 0 keeps nothing. */
  public DeadLetters(long maxBytes) {
    if (maxBytes < 0) {
      throw new IllegalArgumentException("maxBytes must not be negative");
    }
    this.maxBytes = maxBytes;
  }

  void add(DeadLetter letter) {
    long size = size(letter);
    lock.lock();
    try {
      if (size > maxBytes) {
        dropped++;
        return;
      }
      letters.addLast(letter);
      bytes += size;
      while (bytes > maxBytes) {
        bytes -= size(letters.removeFirst());
        dropped++;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes all letters out, oldest first. */
  public List<DeadLetter> drain() {
    lock.lock();
    try {
      List<DeadLetter> taken = new ArrayList<>(letters);
      letters.clear();
      bytes = 0;
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Letters that did not fit. */
  public long dropped() {
    lock.lock();
    try {
      return dropped;
    } finally {
      lock.unlock();
    }
  }

  private static long size(DeadLetter letter) {
    return (long) letter.request().body().length + OVERHEAD_BYTES;
  }
}
