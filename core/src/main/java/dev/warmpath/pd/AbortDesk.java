package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import dev.warmpath.prompt.EngineAdapters;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Sends engines' abort calls: by exact id, at most one per worker and id, and no more in a second
 * than a worker is thought to bear. What is left out is left to the dropped connection, which
 * engines notice within a few seconds. Thread safe.
 */
final class AbortDesk {
  /** Ids that are remembered; an abort of an older one would come far too late to be a repeat. */
  private static final int REMEMBERED = 4_096;

  private static final long SECOND = 1_000_000_000L;

  private record Sent(long epoch, String rid) {}

  private static final class Bucket {
    double tokens;
    long at;
  }

  private final PdCalls calls;
  private final PdCounters counters;
  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Sent> sent = new LinkedHashSet<>();
  private final Map<Long, Bucket> buckets = new HashMap<>();
  private volatile PdSettings settings;

  AbortDesk(PdCalls calls, PdCounters counters, PdSettings settings) {
    this.calls = calls;
    this.counters = counters;
    this.settings = settings;
  }

  /** Sets the limit and the timeout of calls from now on. */
  void change(PdSettings next) {
    settings = next;
  }

  /**
   * Tells a worker to end a request, unless it was told before or is told too much.
   *
   * @return complete once the worker has answered, well or not; at once where it is not told
   */
  CompletionStage<?> abort(WorkerRole role, WorkerRank target, String rid, long now) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    if (rid.isEmpty()) {
      answer.complete(null); // engines match ids by prefix: an empty one would end every request
      return answer;
    }
    String label = role.label();
    lock.lock();
    try {
      if (!sent.add(new Sent(target.worker().epoch(), rid))) {
        answer.complete(null);
        return answer;
      }
      if (sent.size() > REMEMBERED) {
        Iterator<Sent> oldest = sent.iterator();
        oldest.next();
        oldest.remove();
      }
      if (!take(target.worker().epoch(), now)) {
        counters.abort(label, "limited");
        answer.complete(null);
        return answer;
      }
    } finally {
      lock.unlock();
    }
    Duration each = settings.timeouts().abort();
    calls.call(
        new OutboundRequest(
            target,
            "POST",
            "/abort_request",
            Headers.of("Content-Type", "application/json"),
            EngineAdapters.abortBody(rid),
            false,
            true,
            null,
            new Timeouts(each, each, each, each)),
        answered -> {
          counters.abort(label, answered ? "sent" : "failed");
          answer.complete(null);
        });
    return answer;
  }

  private boolean take(long epoch, long now) {
    int perSecond = settings.abortsPerSecond();
    Bucket bucket = buckets.get(epoch);
    if (bucket == null) {
      buckets.values().removeIf(old -> now - old.at > SECOND);
      bucket = new Bucket();
      bucket.tokens = perSecond;
      bucket.at = now;
      buckets.put(epoch, bucket);
    }
    double earned = (double) Math.max(0, now - bucket.at) / SECOND * perSecond;
    bucket.tokens = Math.min(perSecond, bucket.tokens + earned);
    bucket.at = now;
    if (bucket.tokens < 1) {
      return false;
    }
    bucket.tokens--;
    return true;
  }
}
