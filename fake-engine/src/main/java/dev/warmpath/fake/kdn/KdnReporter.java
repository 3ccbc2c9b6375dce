package dev.warmpath.fake.kdn;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.Threads;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers a node with a control plane and tells it every few seconds that the node is alive, as
 * CacheRoute's node does. Unlike it, it registers again where the control plane doesn't know it any
 * more, or was not there. Thread safe; its owner closes it.
 */
final class KdnReporter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KdnReporter.class);
  private static final Duration ANSWER = Duration.ofSeconds(5);
  private static final int SHORTEST_SECONDS = 2;

  final LongAdder registrations = new LongAdder();
  final LongAdder heartbeats = new LongAdder();

  private final URI controlPlane;
  private final @Nullable String secret;
  private final @Nullable Duration every;
  private final ObjectNode identity;
  private final KdnLink link;
  private final KdnFaults faults;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Guarded by lock.
  private boolean closed;
  private boolean silent;

  // The thread's own.
  private boolean registered;
  private Duration toldInterval = Duration.ofSeconds(5);

  /**
   * Begins to report.
   *
   * @param controlPlane where to
   * @param secret what to say at the door, or null
   * @param every between two heartbeats; null for what the control plane asks for
   * @param identity the body of a registration
   */
  KdnReporter(
      URI controlPlane,
      @Nullable String secret,
      @Nullable Duration every,
      ObjectNode identity,
      KdnLink link,
      KdnFaults faults) {
    this.controlPlane = controlPlane;
    this.secret = secret;
    this.every = every;
    this.identity = identity;
    this.link = link;
    this.faults = faults;
    this.thread = new Thread(this::run, "fake-kdn-" + identity.path("port").asInt());
    thread.setDaemon(true);
    thread.start();
  }

  /** Says nothing any more, or goes on. */
  void silent(boolean on) {
    lock.lock();
    try {
      silent = on;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    while (true) {
      boolean quiet;
      lock.lock();
      try {
        if (closed) {
          break;
        }
        quiet = silent;
      } finally {
        lock.unlock();
      }
      if (!quiet && !faults.hanging()) {
        report();
      }
      if (!pause()) {
        break;
      }
    }
    if (registered && !isSilent()) {
      post("unregister", name());
    }
  }

  private boolean isSilent() {
    lock.lock();
    try {
      return silent;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the next report is due; false if there is none. */
  private boolean pause() {
    lock.lock();
    try {
      long left = (every == null ? toldInterval : every).toNanos();
      while (!closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      return !closed;
    } catch (InterruptedException e) {
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void report() {
    if (registered && faults.flapsNow()) {
      registered = post("unregister", name()) == null;
      return;
    }
    if (!registered) {
      KdnJson.Reply reply = post("register", identity);
      if (reply == null || reply.status() != 200) {
        return;
      }
      registered = true;
      registrations.increment();
      int seconds = reply.body().path("heartbeat_interval_s").asInt(10);
      toldInterval = Duration.ofSeconds(Math.max(SHORTEST_SECONDS, seconds));
    }
    KdnJson.Reply reply = post("heartbeat", heartbeat());
    if (reply != null && reply.status() == 200) {
      heartbeats.increment();
    } else if (reply != null && reply.status() == 404) {
      registered = false;
    }
  }

  private ObjectNode name() {
    return KdnJson.object().put("kdn_id", identity.path("kdn_id").asText());
  }

  private ObjectNode heartbeat() {
    ObjectNode body = name();
    if (faults.lying()) {
      return body.put("pending_transfers", -7).put("network_queue_ms_ema", 1e308);
    }
    KdnLink.Load load = link.load();
    if (load != null) {
      body.put("pending_transfers", load.pending());
      body.put("active_transfers", load.active());
      body.put("network_queue_ms_ema", load.queueMillis());
    }
    return body;
  }

  private KdnJson.@Nullable Reply post(String what, ObjectNode body) {
    try {
      return KdnJson.post(controlPlane.resolve("/v1/kdn/" + what), body, ANSWER, secret).get();
    } catch (ExecutionException e) {
      LOG.debug("no answer to {}: {}", what, String.valueOf(e.getCause()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return null;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    Threads.join(thread);
  }
}
