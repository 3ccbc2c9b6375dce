package dev.warmpath.fake.kdn;

import dev.warmpath.fake.internal.http.HttpServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A {@link TransferQueue} in real time. Thread safe. */
final class KdnLink {
  private final @Nullable TransferQueue queue;
  private final double speedup;
  private final long originNanos = System.nanoTime();
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private final IdentityHashMap<TransferQueue.Transfer, CompletableFuture<Void>> waiting =
      new IdentityHashMap<>();

  /** When {@link #advance} comes next; infinite where it doesn't. */
  private double wakesMs = Double.POSITIVE_INFINITY;

  /** What heartbeats tell of it. */
  record Load(int pending, int active, double queueMillis) {}

  KdnLink(@Nullable KdnNetwork network, double speedup) {
    this.queue = network == null ? null : new TransferQueue(network);
    this.speedup = speedup;
  }

  /** Completes when bytes have been sent, on the server's thread; at once without a network. */
  CompletableFuture<Void> send(long bytes, HttpServer server) {
    if (queue == null || bytes <= 0) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> sent = new CompletableFuture<>();
    lock.lock();
    try {
      waiting.put(queue.offer(bytes, nowMs()), sent);
    } finally {
      lock.unlock();
    }
    advance(server);
    return sent;
  }

  private void advance(HttpServer server) {
    if (queue == null) {
      return;
    }
    List<CompletableFuture<Void>> ended = new ArrayList<>();
    double inMs = Double.POSITIVE_INFINITY;
    lock.lock();
    try {
      double now = nowMs();
      if (wakesMs <= now) {
        wakesMs = Double.POSITIVE_INFINITY;
      }
      for (TransferQueue.Transfer transfer : queue.advance(now)) {
        CompletableFuture<Void> sent = waiting.remove(transfer);
        if (sent != null) {
          ended.add(sent);
        }
      }
      double next = queue.nextDeadlineMs();
      if (next < wakesMs) {
        wakesMs = next;
        inMs = (next - now) / speedup;
      }
    } finally {
      lock.unlock();
    }
    ended.forEach(sent -> sent.complete(null));
    if (inMs < Double.POSITIVE_INFINITY) {
      server.schedule(Duration.ofNanos((long) (inMs * 1e6) + 1), () -> advance(server));
    }
  }

  /** What the original measures of its network; null without one. */
  @Nullable Load load() {
    if (queue == null) {
      return null;
    }
    lock.lock();
    try {
      return new Load(queue.pending(), queue.active(), queue.queueMillis());
    } finally {
      lock.unlock();
    }
  }

  private double nowMs() {
    return (System.nanoTime() - originNanos) / 1e6 * speedup;
  }
}
