package dev.warmpath.index.kv;

import dev.warmpath.index.KvBatch;
import dev.warmpath.index.KvStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;

/**
 * What is heard of one rank: a SUB socket, and while something is missing a DEALER that asks for
 * it.
 *
 * <p>Messages are {@code [topic, number, batch]}, the number in eight bytes, the most significant
 * first; ATOM's are {@code [batch]} or {@code [topic, batch]}. Sent {@code ["", number]}, a replay
 * endpoint answers {@code ["", number, batch]} for each batch from that on that it has, and the
 * number -1 at the end (vllm {@code distributed/kv_events.py}).
 *
 * <p>Used by the listener's thread, but for what is said to be anybody's.
 */
final class ZmqLink {
  private static final Logger log = LoggerFactory.getLogger(ZmqLink.class);

  /**
   * JeroMQ 0.6 loses the handshake of some connections, more of them under load, and makes them
   * anew only when this has passed.
   */
  private static final int HANDSHAKE_MILLIS = 250;

  private static final int RECONNECT_MILLIS = 100;
  private static final int LONGEST_RECONNECT_MILLIS = 5_000;
  private static final int HEARTBEAT_MILLIS = 5_000;
  private static final int HEARTBEAT_TIMEOUT_MILLIS = 15_000;
  private static final long LARGEST_MESSAGE = 64L << 20;
  private static final int MOST_FRAMES = 8;

  /** How many messages are taken in before other ranks have their turn. */
  private static final int MESSAGES_AT_ONCE = 64;

  private static final long END_OF_REPLAY = -1;
  private static final byte[] NOTHING = {};
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final ZmqListener.Target target;
  private final KvStream stream;
  private final KvEventSettings settings;
  private final KvBatchDecoder decoder = new KvBatchDecoder();
  private final List<byte[]> frames = new ArrayList<>();

  private ZMQ.@Nullable Socket events;
  private ZMQ.@Nullable Socket replay;
  private long replaySince;
  private boolean complained;
  private boolean dropped;

  /** Changed by JeroMQ's own thread. */
  private volatile boolean connected;

  private volatile boolean arrived;
  private volatile long lostSince = System.nanoTime();

  private volatile boolean ended;
  private final AtomicLong malformed = new AtomicLong();

  ZmqLink(ZmqListener.Target target, KvStream stream, KvEventSettings settings) {
    this.target = target;
    this.stream = stream;
    this.settings = settings;
  }

  /** Anybody's. */
  boolean connected() {
    return connected;
  }

  /** Anybody's. */
  long malformed() {
    return malformed.get();
  }

  /** Anybody's: from now on nothing is taken in. */
  void end() {
    ended = true;
  }

  void open(ZContext context) {
    ZMQ.Socket socket = socket(context, SocketType.SUB);
    socket.setRcvHWM(settings.waitingMessages());
    socket.subscribe(target.topic().getBytes(StandardCharsets.UTF_8));
    socket.setEventHook(this::changed, ZMQ.EVENT_ALL);
    socket.connect(target.url());
    events = socket;
  }

  private static ZMQ.Socket socket(ZContext context, SocketType type) {
    ZMQ.Socket socket = context.createSocket(type);
    socket.setLinger(0);
    socket.setHandshakeIvl(HANDSHAKE_MILLIS);
    socket.setReconnectIVL(RECONNECT_MILLIS);
    socket.setReconnectIVLMax(LONGEST_RECONNECT_MILLIS);
    socket.setHeartbeatIvl(HEARTBEAT_MILLIS);
    socket.setHeartbeatTimeout(HEARTBEAT_TIMEOUT_MILLIS);
    socket.setMaxMsgSize(LARGEST_MESSAGE);
    return socket;
  }

  private void changed(ZEvent event) {
    switch (event.getEvent()) {
      case HANDSHAKE_PROTOCOL -> {
        connected = true;
        arrived = true;
      }
      case DISCONNECTED, CLOSED -> {
        if (connected) {
          lostSince = System.nanoTime();
          connected = false;
        }
      }
      default -> {
        // Attempts, which the reconnection sees to.
      }
    }
  }

  /** Has its sockets waited for. */
  void register(ZMQ.Poller poller) {
    if (events != null) {
      poller.register(events, ZMQ.Poller.POLLIN);
    }
    if (replay != null) {
      poller.register(replay, ZMQ.Poller.POLLIN);
    }
  }

  /**
   * Takes in what has come, and sees to what has not.
   *
   * @return whether it has other sockets than before
   */
  boolean attend(ZContext context, long now) {
    ZMQ.Socket live = events;
    if (live == null || ended) {
      return false;
    }
    ZMQ.Socket before = replay;
    boolean wanted = false;
    if (arrived) {
      arrived = false;
      dropped = false;
      wanted = target.replayUrl() != null && stream.joined();
    }
    for (int i = 0; i < MESSAGES_AT_ONCE && !ended && receive(live); i++) {
      wanted |= message();
    }
    if (wanted) {
      ask(context, now);
    }
    if (replay != null) {
      takeReplay(context, replay, now);
    }
    if (!connected && !dropped && now - lostSince > settings.silence().toNanos()) {
      dropped = true;
      stream.interrupted();
    }
    return replay != before;
  }

  /** The frames of the next message, if there is one. */
  private boolean receive(ZMQ.Socket socket) {
    frames.clear();
    byte[] frame = socket.recv(ZMQ.DONTWAIT);
    if (frame == null) {
      return false;
    }
    frames.add(frame);
    while (socket.hasReceiveMore()) {
      byte[] next = socket.recv();
      if (frames.size() < MOST_FRAMES && next != null) {
        frames.add(next);
      }
    }
    return true;
  }

  private boolean message() {
    KvBatch batch = batch();
    return batch != null && stream.live(batch);
  }

  /** The batch in the frames, or null if there is none. */
  private @Nullable KvBatch batch() {
    byte[] payload = frames.get(frames.size() - 1);
    long number = KvBatch.UNNUMBERED;
    if (frames.size() >= 3) {
      byte[] second = frames.get(frames.size() - 2);
      if (second.length != Long.BYTES) {
        return refuse("a number of " + second.length + " bytes");
      }
      number = (long) LONG.get(second, 0);
    }
    try {
      KvBatch batch = decoder.decode(number, payload);
      OptionalInt told = decoder.rank();
      return told.isPresent() && target.rank().isPresent() && !told.equals(target.rank())
          ? refuse("a batch of rank " + told.getAsInt())
          : batch;
    } catch (MalformedBatchException e) {
      return refuse(String.valueOf(e.getMessage()));
    }
  }

  private @Nullable KvBatch refuse(String reason) {
    malformed.incrementAndGet();
    if (!complained) {
      complained = true;
      log.warn("A message of {} at {} is left out: {}", target.name(), target.url(), reason);
    }
    return null;
  }

  private void ask(ZContext context, long now) {
    String url = target.replayUrl();
    if (url == null) {
      stream.replayFailed();
      return;
    }
    closeReplay();
    ZMQ.Socket dealer = socket(context, SocketType.DEALER);
    dealer.connect(url);
    byte[] from = new byte[Long.BYTES];
    LONG.set(from, 0, stream.replayFrom());
    dealer.sendMore(NOTHING);
    dealer.send(from);
    replay = dealer;
    replaySince = now;
  }

  private void takeReplay(ZContext context, ZMQ.Socket dealer, long now) {
    for (int i = 0; i < MESSAGES_AT_ONCE && receive(dealer); i++) {
      replaySince = now;
      if (frames.size() < 2) {
        refuse("a replay without numbers");
        continue;
      }
      byte[] number = frames.get(frames.size() - 2);
      if (number.length == Long.BYTES && (long) LONG.get(number, 0) == END_OF_REPLAY) {
        closeReplay();
        if (stream.replayEnded()) {
          ask(context, now);
        }
        return;
      }
      KvBatch batch = batch();
      if (batch != null && batch.sequence() != KvBatch.UNNUMBERED) {
        stream.replayed(batch);
      }
    }
    if (now - replaySince > settings.replayTimeout().toNanos()) {
      closeReplay();
      stream.replayFailed();
    }
  }

  private void closeReplay() {
    ZMQ.Socket dealer = replay;
    if (dealer != null) {
      replay = null;
      dealer.close();
    }
  }

  /** Nothing will be heard any more. */
  void lose() {
    stream.interrupted();
  }

  void close() {
    closeReplay();
    ZMQ.Socket live = events;
    if (live != null) {
      events = null;
      live.close();
    }
  }
}
