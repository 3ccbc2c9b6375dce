package dev.warmpath.knowledge;

import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Scheduler;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every node what it has, at once when it is new and from time to time after. Each node is
 * asked apart: one that hangs, lies or is gone delays nobody else's answer, and what was known of
 * it stays until its time to live ends. Thread safe.
 */
final class NodePoller implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(NodePoller.class);

  /** Between a question that failed and the next one. */
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

  private final KnowledgeRegistry registry;
  private final KnowledgeTransport transport;
  private final Scheduler scheduler;
  private final Executor calls;
  private final Set<String> followed = ConcurrentHashMap.newKeySet();
  private final Set<String> asking = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * Creates a poller; {@link #follow} starts it.
   *
   * @param scheduler says when; it stays its owner's
   * @param calls runs what blocks; it stays its owner's
   */
  NodePoller(
      KnowledgeRegistry registry,
      KnowledgeTransport transport,
      Scheduler scheduler,
      Executor calls) {
    this.registry = registry;
    this.transport = transport;
    this.scheduler = scheduler;
    this.calls = calls;
  }

  /** Asks a node now, and from now on. */
  void follow(String node) {
    if (followed.add(node)) {
      schedule(node, Duration.ZERO);
    } else {
      ask(node, false);
    }
  }

  private void schedule(String node, Duration delay) {
    scheduler.schedule(delay, () -> ask(node, true));
  }

  /**
   * @param again whether this is the turn after which the next one is scheduled
   */
  private void ask(String node, boolean again) {
    if (closed) {
      return;
    }
    URI base = registry.baseOf(node);
    if (base == null) {
      followed.remove(node);
      return;
    }
    try {
      calls.execute(
          () -> {
            boolean well = pull(node, base);
            if (again) {
              schedule(node, well ? registry.settings().refresh() : AFTER_FAILURE);
            }
          });
    } catch (RejectedExecutionException e) {
      registry.troubled(node, "too many nodes are being asked");
      if (again) {
        schedule(node, AFTER_FAILURE);
      }
    }
  }

  /** Asks a node once, on this thread; true where it told what it has. */
  boolean pull(String node, URI base) {
    if (!asking.add(node)) {
      return true;
    }
    RegistrySettings settings = registry.settings();
    try {
      registry.pieces(
          node, transport.snapshot(base, settings.maxPiecesPerNode(), settings.pollTimeout()));
      return true;
    } catch (TransportException e) {
      registry.troubled(node, "snapshot: " + e.getMessage());
      return false;
    } catch (RuntimeException e) {
      log.warn("Asking node {} failed", node, e);
      registry.troubled(node, "snapshot: " + e.getClass().getSimpleName());
      return false;
    } finally {
      asking.remove(node);
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
