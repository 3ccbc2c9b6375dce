package dev.warmpath.grpc.umbp;

import dev.warmpath.config.UmbpSettings;
import dev.warmpath.grpc.ChannelSettings;
import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockAnswer.Failure;
import dev.warmpath.index.BlockAnswer.Kind;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.index.BlockQuery;
import dev.warmpath.proto.umbp.MatchExternalKvRequest;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks a UMBP master which nodes hold a prompt's blocks ({@code umbp.UMBPMaster/MatchExternalKv} of
 * ROCm's mori, August 2026): its index of what engines hold in their own caches. It reads only, and
 * registers nowhere.
 *
 * <p>Blocks are asked for from the first on, in chunks of 128, 512 and then 1,024, as long as some
 * node holds all of them so far. Nothing is asked twice: a call that fails is not repeated. After
 * three failures in a row the master is left alone but for a probe now and then, which no request
 * waits for, so that a master that hangs costs three requests their deadline and no more. It
 * reconnects with the probe rather than by gRPC's back-off, which grows to minutes.
 *
 * <p>Thread safe. Closing it ends what is under way.
 */
public final class UmbpClient implements BlockLocator {
  static final int FIRST_CHUNK = 128;
  static final int CHUNK_GROWTH = 4;
  static final int LARGEST_CHUNK = 1_024;

  /** See {@link Builder#maxInFlight}. */
  public static final int DEFAULT_MAX_IN_FLIGHT = UmbpSettings.DEFAULT_MAX_IN_FLIGHT;

  /** Calls end by themselves a little before whoever waits gives up, so that parts are not lost. */
  private static final int MARGIN = 10;

  private static final MatchExternalKvRequest NOTHING = MatchExternalKvRequest.getDefaultInstance();

  private final ManagedChannel channel;
  private final int maxInFlight;
  private final boolean hitCounting;
  private final LongSupplier ticker;
  private final MasterBreaker breaker;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final LongAdder calls = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder shed = new LongAdder();
  private volatile boolean closed;

  private UmbpClient(Builder builder) {
    this.channel = builder.settings.open(builder.master);
    this.maxInFlight = builder.maxInFlight;
    this.hitCounting = builder.hitCounting;
    this.ticker = builder.ticker;
    this.breaker = new MasterBreaker(builder.seed);
    var unused = channel.getState(true); // connects, so that the first request need not
  }

  /**
   * A client with the default settings.
   *
   * @param master {@code host:port}, {@code grpc://host:port} or {@code grpcs://host:port}
   * @throws IllegalArgumentException when it is no such address
   */
  public static UmbpClient to(String master) {
    return builder(master).build();
  }

  /**
   * Starts a client.
   *
   * @param master {@code host:port}, {@code grpc://host:port} or {@code grpcs://host:port}
   * @throws IllegalArgumentException when it is no such address
   */
  public static Builder builder(String master) {
    return new Builder(URI.create(master.contains("://") ? master : "grpc://" + master));
  }

  @Override
  public String name() {
    return "umbp";
  }

  @Override
  public CompletableFuture<BlockAnswer> locate(BlockQuery query) {
    if (closed) {
      return failed(Kind.CANCELLED, "the client is closed");
    }
    long now = now();
    switch (breaker.leave(now)) {
      case ASK -> {}
      case PROBE -> {
        probe(query.timeout());
        return failed(Kind.OPEN, null);
      }
      case NONE -> {
        return failed(Kind.OPEN, null);
      }
    }
    if (inFlight.incrementAndGet() > maxInFlight) {
      inFlight.decrementAndGet();
      shed.increment();
      return failed(Kind.BUSY, maxInFlight + " look-ups are under way");
    }
    long timeout = query.timeout().toNanos();
    return new Search(this, query, hitCounting && query.counted(), now + timeout - timeout / MARGIN)
        .start();
  }

  private static CompletableFuture<BlockAnswer> failed(Kind kind, @Nullable String detail) {
    return CompletableFuture.completedFuture(BlockAnswer.failed(kind, detail));
  }

  /** Finds out whether the master is back: an empty question, which it answers at once. */
  private void probe(Duration timeout) {
    channel.resetConnectBackoff();
    MatchCall unused =
        match(
            NOTHING,
            timeout.toNanos(),
            (told, status) -> {
              if (told != null) {
                succeeded();
              } else {
                breaker.probeFailed(now());
              }
            });
  }

  MatchCall match(
      MatchExternalKvRequest request,
      long timeoutNanos,
      BiConsumer<@Nullable MatchExternalKvResponse, Status> end) {
    calls.increment();
    return MatchCall.send(
        channel,
        request,
        timeoutNanos,
        (told, status) -> {
          if (told == null) {
            failures.increment();
          }
          end.accept(told, status);
        });
  }

  /** A look-up is over. */
  void ended() {
    inFlight.decrementAndGet();
  }

  void succeeded() {
    breaker.succeeded();
  }

  /**
   * A call failed. A caller that gave up after the deadline counts as the master's failure; a
   * message that was too long is not.
   *
   * @param leftNanos what was left until the deadline
   */
  void failed(Status status, long leftNanos) {
    boolean gaveUp = status.getCode() == Status.Code.CANCELLED && leftNanos > 0;
    if (!gaveUp && !closed && status.getCode() != Status.Code.RESOURCE_EXHAUSTED) {
      breaker.failed(now());
    }
  }

  /** What a status means for the look-up. */
  Failure failure(Status status) {
    if (closed) {
      return new Failure(Kind.CANCELLED, "the client is closed");
    }
    return switch (status.getCode()) {
      case DEADLINE_EXCEEDED -> new Failure(Kind.DEADLINE, null);
      case UNAVAILABLE -> new Failure(Kind.UNAVAILABLE, status.getDescription());
      case CANCELLED -> new Failure(Kind.CANCELLED, null);
      default -> new Failure(Kind.ERROR, status.getCode().name());
    };
  }

  long now() {
    return ticker.getAsLong();
  }

  /**
   * Asks for keys as they are and gives the master's answer as it is, for tools. Not counted as a
   * hit, not chunked, and asked whatever happened before.
   *
   * @param keys what to ask for; each is asked once
   * @return completes with the answer, or with a {@link StatusRuntimeException}
   */
  public CompletableFuture<List<UmbpMatch>> match(Collection<String> keys, Duration timeout) {
    CompletableFuture<List<UmbpMatch>> answer = new CompletableFuture<>();
    MatchCall call =
        match(
            MatchExternalKvRequest.newBuilder().addAllHashes(new LinkedHashSet<>(keys)).build(),
            timeout.toNanos(),
            (told, status) -> {
              if (told == null) {
                answer.completeExceptionally(status.asRuntimeException());
              } else {
                answer.complete(UmbpMatch.of(told));
              }
            });
    var unused =
        answer.whenComplete(
            (value, error) -> {
              if (answer.isCancelled()) {
                call.cancel();
              }
            });
    return answer;
  }

  /**
   * A moment's figures.
   *
   * @param inFlight look-ups under way
   * @param calls calls made so far, probes included
   * @param failures those that ended without an answer
   * @param shed look-ups not made because too many were under way
   * @param open whether the master is left alone because it failed
   */
  public record Stats(int inFlight, long calls, long failures, long shed, boolean open) {}

  /** How it fares. */
  public Stats stats() {
    return new Stats(inFlight.get(), calls.sum(), failures.sum(), shed.sum(), breaker.isOpen());
  }

  @Override
  public void close() {
    closed = true;
    channel.shutdownNow();
    try {
      boolean unused = channel.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Builds a {@link UmbpClient}. Not thread safe. */
  public static final class Builder {
    private final URI master;
    private ChannelSettings settings = ChannelSettings.UMBP;
    private int maxInFlight = DEFAULT_MAX_IN_FLIGHT;
    private boolean hitCounting = true;
    private LongSupplier ticker = System::nanoTime;
    private long seed = ThreadLocalRandom.current().nextLong();

    private Builder(URI master) {
      this.master = master;
    }

    /** Sets how the channel is made; {@link ChannelSettings#UMBP} by default. */
    public Builder channel(ChannelSettings settings) {
      this.settings = settings;
      return this;
    }

    /**
     * Sets how many look-ups may be under way; beyond it requests are routed without one. {@link
     * #DEFAULT_MAX_IN_FLIGHT} by default.
     *
     * @throws IllegalArgumentException when it is not positive
     */
    public Builder maxInFlight(int maxInFlight) {
      if (maxInFlight < 1) {
        throw new IllegalArgumentException(maxInFlight + " look-ups at once: use 1 or more");
      }
      this.maxInFlight = maxInFlight;
      return this;
    }

    /**
     * Sets whether the master counts the blocks of requests that are sent as used ({@code
     * count_as_hit}), once for each request; on by default. Counting takes the master's exclusive
     * lock.
     */
    public Builder hitCounting(boolean on) {
      this.hitCounting = on;
      return this;
    }

    /** Sets the clock that deadlines and pauses go by, for tests. */
    public Builder ticker(LongSupplier ticker) {
      this.ticker = ticker;
      return this;
    }

    /** Fixes the draw of pauses, for tests. */
    public Builder seed(long seed) {
      this.seed = seed;
      return this;
    }

    /**
     * The client. Connects in the background, and does not fail because the master is down.
     *
     * @throws IllegalArgumentException when the master's address is none
     */
    public UmbpClient build() {
      return new UmbpClient(this);
    }
  }
}
