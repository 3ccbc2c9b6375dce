package dev.warmpath.index.kv;

import dev.warmpath.index.KvStream;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** The thread that owns the sockets of all ranks that are listened to, and looks after them. */
final class ZmqListener implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ZmqListener.class);

  /** How often timeouts are looked at, and ranks come and go. */
  private static final long LOOK_MILLIS = 20;

  /** How long closing waits for a batch that is being applied. */
  private static final long CLOSE_MILLIS = 2_000;

  private final KvEventSettings settings;
  private final ZContext context = new ZContext();
  private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final List<ZmqLink> links = new ArrayList<>();
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Whom to listen to.
   *
   * @param name the rank's name
   * @param url where it tells
   * @param replayUrl where it is asked for earlier batches, or null
   * @param topic what messages begin with
   * @param rank the rank that its batches must name, if they name any
   */
  record Target(
      String name, String url, @Nullable String replayUrl, String topic, OptionalInt rank) {}

  ZmqListener(KvEventSettings settings) {
    this.settings = settings;
    context.setLinger(0);
    thread = new Thread(this::run, "warmpath-kv-events");
    thread.setDaemon(true);
    thread.start();
  }

  KvSubscriber.Subscription listen(Target target, KvStream stream) {
    ZmqLink link = new ZmqLink(target, stream, settings);
    commands.add(
        () -> {
          links.add(link);
          link.open(context);
        });
    return new KvSubscriber.Subscription() {
      @Override
      public boolean connected() {
        return link.connected();
      }

      @Override
      public long malformed() {
        return link.malformed();
      }

      @Override
      public void close() {
        link.end();
        commands.add(
            () -> {
              links.remove(link);
              link.close();
            });
      }
    };
  }

  private void run() {
    try {
      while (!closed) {
        try (ZMQ.Poller poller = context.createPoller(2 * links.size() + 1)) {
          links.forEach(link -> link.register(poller));
          listen(poller);
        }
      }
    } catch (RuntimeException e) {
      if (!closed) {
        log.error("Listening to KV events ended: what workers hold is only guessed", e);
        links.forEach(ZmqLink::lose);
      }
    } finally {
      context.close();
    }
  }

  /** Listens until there are other sockets to listen to. */
  private void listen(ZMQ.Poller poller) {
    boolean same = true;
    while (same && !closed) {
      poller.poll(LOOK_MILLIS);
      long now = System.nanoTime();
      for (ZmqLink link : links) {
        same &= !link.attend(context, now);
      }
      for (Runnable next = commands.poll(); next != null; next = commands.poll()) {
        next.run();
        same = false;
      }
    }
  }

  /** Ends the thread and frees the sockets. */
  @Override
  public void close() {
    closed = true;
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
