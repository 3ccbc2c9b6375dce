package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.Threads;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.live.KvEvent;
import dev.warmpath.fake.live.RankObserver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * One rank's publisher: a thread that owns its sockets, numbers and encodes what the rank's
 * observer hands over, suffers faults with it, and answers who asks for earlier batches.
 */
final class KvEventSocket implements RankObserver, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KvEventSocket.class);
  private static final byte[] NOTHING = {};
  private static final long END_OF_REPLAY = -1;

  /** How often an idle publisher looks for who asks for earlier batches. */
  private static final long LOOK_MILLIS = 10;

  /**
   * How batches are put on the wire.
   *
   * @param topic the first frame, or null to send none
   * @param numbered whether a batch's number is sent
   * @param kept batches kept for replay
   */
  record Framing(@Nullable String topic, boolean numbered, int kept) {}

  private record Changes(double epochSeconds, List<KvEvent> events) {}

  private record Batch(long number, byte[] payload) {}

  private final ZMQ.Socket publisher;
  private final ZMQ.@Nullable Socket replay;
  private final CacheChanges changes;
  private final EventEncoder encoder;
  private final Framing framing;
  private final byte @Nullable [] topic;
  private final Supplier<@Nullable Fault> faults;
  private final EngineClock clock;
  private final LinkedBlockingQueue<Changes> queue = new LinkedBlockingQueue<>();
  private final Deque<Batch> batches = new ArrayDeque<>();
  private final CopyOnWriteArrayList<KvBatchListener> listeners = new CopyOnWriteArrayList<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread;
  private long next;

  /**
   * Starts to publish.
   *
   * @param publisher a bound PUB socket, from now on this publisher's
   * @param replay a bound ROUTER socket, likewise, or null
   * @param faults decides what becomes of the next batch
   */
  KvEventSocket(
      String name,
      ZMQ.Socket publisher,
      ZMQ.@Nullable Socket replay,
      CacheChanges changes,
      EventEncoder encoder,
      Framing framing,
      Supplier<@Nullable Fault> faults,
      EngineClock clock) {
    this.publisher = publisher;
    this.replay = replay;
    this.changes = changes;
    this.encoder = encoder;
    this.framing = framing;
    this.topic = framing.topic() == null ? null : framing.topic().getBytes(StandardCharsets.UTF_8);
    this.faults = faults;
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

  /** Lets a listener hear every batch from the next one on, until the result is run. */
  Runnable listen(KvBatchListener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  private boolean closed() {
    return closed.getCount() == 0;
  }

  private void run() {
    while (!closed()) {
      try {
        Changes made =
            replay == null ? queue.take() : queue.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        if (made != null && !made.events().isEmpty()) {
          List<KvBatch.Change> told = changes.of(made.events());
          if (!told.isEmpty()) {
            publish(made.epochSeconds(), made.events().get(0).dpRank(), told);
          }
        }
        answerReplays();
      } catch (IOException e) {
        throw new IllegalStateException("a batch can't be encoded", e);
      } catch (InterruptedException e) {
        return; // nobody interrupts it; sockets would not survive
      }
    }
  }

  private void publish(double epochSeconds, int rank, List<KvBatch.Change> told)
      throws IOException, InterruptedException {
    Fault fault = faults.get();
    Fault.Kind kind = fault == null ? null : fault.kind();
    List<KvBatchListener> former = List.of();
    if (kind == Fault.Kind.RESTART) {
      former = beginAnew();
    } else if (fault != null && kind == Fault.Kind.SLOW) {
      pause(fault.delay());
    }
    KvBatch batch = new KvBatch(next++, epochSeconds, rank, told);
    byte[] payload = encoder.encode(batch);
    if (kind == Fault.Kind.GAP) {
      return;
    }
    keep(new Batch(batch.number(), payload));
    if (kind == Fault.Kind.DROP) {
      return;
    }
    send(batch, payload);
    if (kind == Fault.Kind.DUPLICATE) {
      send(batch, payload);
    }
    former.forEach(KvBatchListener::over);
  }

  /**
   * Forgets whoever listens. They are told once the first batch is out, so that whoever comes back
   * at once never hears it.
   */
  private List<KvBatchListener> beginAnew() {
    next = 0;
    batches.clear();
    List<KvBatchListener> former = List.copyOf(listeners);
    listeners.removeAll(former);
    return former;
  }

  private void pause(Duration delay) throws InterruptedException {
    boolean ended = closed.await(delay.toNanos(), TimeUnit.NANOSECONDS);
    LOG.trace("held a batch back, ended meanwhile: {}", ended);
  }

  private void keep(Batch batch) {
    if (replay != null) {
      batches.addLast(batch);
      if (batches.size() > framing.kept()) {
        batches.removeFirst();
      }
    }
  }

  private void send(KvBatch batch, byte[] payload) {
    if (topic != null) {
      publisher.sendMore(topic);
    }
    if (framing.numbered()) {
      publisher.sendMore(number(batch.number()));
    }
    publisher.send(payload);
    listeners.forEach(listener -> listener.published(batch));
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
    closed.countDown();
    queue.add(new Changes(0, List.of()));
    Threads.join(thread);
    listeners.forEach(KvBatchListener::over);
    publisher.close();
    if (replay != null) {
      replay.close();
    }
  }
}
