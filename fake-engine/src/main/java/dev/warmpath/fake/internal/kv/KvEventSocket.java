package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.internal.Threads;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.live.KvEvent;
import dev.warmpath.fake.live.RankObserver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * One rank's publisher: a thread that owns its sockets, encodes what the rank's observer hands over
 * and answers who asks for earlier batches.
 */
final class KvEventSocket implements RankObserver, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KvEventSocket.class);
  private static final byte[] NOTHING = {};
  private static final long END_OF_REPLAY = -1;

  /** How often an idle publisher looks for who asks for earlier batches. */
  private static final long LOOK_MILLIS = 10;

  private record Changes(double epochSeconds, List<KvEvent> events) {}

  private record Batch(long number, byte[] payload) {}

  private final ZMQ.Socket publisher;
  private final ZMQ.@Nullable Socket replay;
  private final EventEncoder encoder;
  private final byte @Nullable [] topic;
  private final boolean numbered;
  private final int kept;
  private final EngineClock clock;
  private final LinkedBlockingQueue<Changes> queue = new LinkedBlockingQueue<>();
  private final Deque<Batch> batches = new ArrayDeque<>();
  private final Thread thread;
  private volatile boolean closed;
  private long next;

  /**
   * Starts to publish.
   *
   * @param publisher a bound PUB socket, from now on this publisher's
   * @param replay a bound ROUTER socket, likewise, or null
   * @param topic the first frame, or null to send none
   * @param numbered whether a batch's number is sent
   */
  KvEventSocket(
      String name,
      ZMQ.Socket publisher,
      ZMQ.@Nullable Socket replay,
      EventEncoder encoder,
      @Nullable String topic,
      boolean numbered,
      int kept,
      EngineClock clock) {
    this.publisher = publisher;
    this.replay = replay;
    this.encoder = encoder;
    this.topic = topic == null ? null : topic.getBytes(StandardCharsets.UTF_8);
    this.numbered = numbered;
    this.kept = kept;
    this.clock = clock;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
        (failed, e) -> LOG.error("publisher {} stopped", failed.getName(), e));
    thread.start();
  }

  @Override
  public void cacheChanged(List<KvEvent> events) {
    Instant now = clock.instant();
    queue.add(new Changes(now.getEpochSecond() + now.getNano() / 1e9, events));
  }

  private void run() {
    while (!closed) {
      try {
        Changes changes =
            replay == null ? queue.take() : queue.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        if (changes != null && !changes.events().isEmpty()) {
          publish(encoder.batch(changes.epochSeconds(), changes.events()));
        }
        answerReplays();
      } catch (IOException e) {
        throw new IllegalStateException("a batch can't be encoded", e);
      } catch (InterruptedException e) {
        return; // nobody interrupts it; sockets would not survive
      }
    }
  }

  private void publish(byte @Nullable [] payload) {
    if (payload == null) {
      return;
    }
    long number = next++;
    if (topic != null) {
      publisher.sendMore(topic);
    }
    if (numbered) {
      publisher.sendMore(number(number));
    }
    publisher.send(payload);
    if (replay != null) {
      batches.addLast(new Batch(number, payload));
      if (batches.size() > kept) {
        batches.removeFirst();
      }
    }
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private void answerReplays() {
    ZMQ.Socket router = replay;
    if (router == null) {
      return;
    }
    for (byte[] client = router.recv(ZMQ.DONTWAIT);
        client != null;
        client = router.recv(ZMQ.DONTWAIT)) {
      byte[] last = NOTHING;
      int frames = 1;
      while (router.hasReceiveMore()) {
        last = router.recv();
        frames++;
      }
      if (frames != 3 || last.length != Long.BYTES) {
        LOG.debug("a request for earlier events that is none");
        continue;
      }
      long from = ByteBuffer.wrap(last).getLong();
      for (Batch batch : batches) {
        if (batch.number() >= from) {
          reply(router, client, batch.number(), batch.payload());
        }
      }
      reply(router, client, END_OF_REPLAY, NOTHING);
    }
  }

  private static void reply(ZMQ.Socket router, byte[] client, long number, byte[] payload) {
    router.sendMore(client);
    router.sendMore(NOTHING);
    router.sendMore(number(number));
    router.send(payload);
  }

  /** Ends the thread; what is queued is dropped, as a process that dies drops it. */
  @Override
  public void close() {
    closed = true;
    queue.add(new Changes(0, List.of()));
    Threads.join(thread);
    publisher.close();
    if (replay != null) {
      replay.close();
    }
  }
}
