package dev.warmpath.grpc;

import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.worker.WorkerRank;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.OptionalInt;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is heard of one worker: a call of {@code SubscribeKvEvents}, and the next one when that has
 * ended.
 *
 * <p>Each call asks for the batch after the last one that came. Where the service goes on from
 * there, nothing was missed; where it goes on with what is told now, as smg's servicers up to 0.8.0
 * do, the numbers show whether something was.
 *
 * <p>A message is asked for when one has been applied, so that few wait here; the rest waits at the
 * engine, which drops some in the end, and they are noticed as missing. Used by the subscriber's
 * thread, but for what is said to be anybody's.
 */
final class KvLink extends ClientCall.Listener<KvEventBatch> {
  private static final Logger log = LoggerFactory.getLogger(KvLink.class);

  /** How many messages may be on their way from the connection to the index. */
  static final int MESSAGES_AHEAD = 16;

  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 5_000;
  private static final int LARGEST_MESSAGE = 64 << 20;

  private final Target target;
  private final KvStream stream;
  private final KvEventSettings settings;
  private final ScheduledExecutorService thread;
  private final RandomGenerator random;
  private final AtomicLong malformed = new AtomicLong();

  private @Nullable ClientCall<SubscribeKvEventsRequest, KvEventBatch> call;
  private @Nullable Future<?> silence;
  private long pauseMillis = FIRST_PAUSE_MILLIS;
  private volatile boolean connected;
  private volatile boolean ended;

  /**
   * Whom to listen to.
   *
   * @param rank who tells
   * @param endpoint the worker's, which stays the transport's
   * @param method the service's call
   * @param refused hears that the worker does not tell of its KV cache
   */
  record Target(
      WorkerRank rank,
      Endpoint endpoint,
      MethodDescriptor<SubscribeKvEventsRequest, KvEventBatch> method,
      Runnable refused) {}

  /**
   * Creates a link that is not open.
   *
   * @param thread runs everything of the link; has one thread only
   * @param random spreads attempts over time, used by that thread
   */
  KvLink(
      Target target,
      KvStream stream,
      KvEventSettings settings,
      ScheduledExecutorService thread,
      RandomGenerator random) {
    this.target = target;
    this.stream = stream;
    this.settings = settings;
    this.thread = thread;
    this.random = random;
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
  void mute() {
    ended = true;
  }

  void open() {
    if (ended) {
      return;
    }
    // Otherwise calls fail for as long as gRPC's own back-off lasts, which grows to minutes.
    ManagedChannel channel = target.endpoint().channel();
    channel.resetConnectBackoff();
    ClientCall<SubscribeKvEventsRequest, KvEventBatch> made =
        channel.newCall(
            target.method(),
            CallOptions.DEFAULT.withExecutor(thread).withMaxInboundMessageSize(LARGEST_MESSAGE));
    call = made;
    made.start(this, Endpoint.controlHeaders(target.rank().worker()));
    made.request(MESSAGES_AHEAD);
    made.sendMessage(
        SubscribeKvEventsRequest.newBuilder().setStartSequenceNumber(stream.replayFrom()).build());
    made.halfClose();
  }

  @Override
  public void onHeaders(Metadata headers) {
    arrived();
  }

  private void arrived() {
    connected = true;
    pauseMillis = FIRST_PAUSE_MILLIS;
    Future<?> timer = silence;
    if (timer != null) {
      silence = null;
      timer.cancel(false);
    }
  }

  @Override
  public void onMessage(KvEventBatch message) {
    ClientCall<SubscribeKvEventsRequest, KvEventBatch> current = call;
    if (ended || current == null) {
      return;
    }
    take(message);
    current.request(1);
  }

  private void take(KvEventBatch message) {
    OptionalInt rank = target.rank().rank();
    if (message.getGroupEventsEnabled()) {
      refuse("blocks in groups");
    } else if (message.hasDpRank() && rank.isPresent() && rank.getAsInt() != message.getDpRank()) {
      refuse("a batch of rank " + message.getDpRank());
    } else if (stream.live(KvMessages.batch(message))) {
      stream.replayFailed();
    }
  }

  private void refuse(String reason) {
    if (malformed.getAndIncrement() == 0) {
      log.warn("A message of {} is left out: {}", target.rank(), reason);
    }
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    call = null;
    connected = false;
    if (ended) {
      return;
    }
    if (status.getCode() == Status.Code.UNIMPLEMENTED) {
      log.info("{} does not tell of its KV cache: {}", target.rank(), status.getDescription());
      stream.interrupted();
      target.refused().run();
      return;
    }
    if (silence == null) {
      silence =
          thread.schedule(
              stream::interrupted, settings.silence().toMillis(), TimeUnit.MILLISECONDS);
    }
    var unused = thread.schedule(this::open, nextPause(), TimeUnit.MILLISECONDS);
  }

  /** Between half and all of a time that doubles, so that clients don't come back all at once. */
  private long nextPause() {
    long longest = pauseMillis;
    pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, 2 * longest);
    return random.nextLong(longest / 2, longest + 1);
  }

  /** Ends the call. */
  void end() {
    ended = true;
    connected = false;
    Future<?> timer = silence;
    if (timer != null) {
      timer.cancel(false);
    }
    ClientCall<SubscribeKvEventsRequest, KvEventBatch> current = call;
    if (current != null) {
      call = null;
      current.cancel("no longer listened to", null);
    }
  }
}
