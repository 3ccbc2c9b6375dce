package dev.warmpath.health;

import dev.warmpath.worker.WorkerRank;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The live side of one {@link WorkerRank}: own in-flight counts, last telemetry, latency,
 * availability. There is one per incarnation and rank, so a request that outlives its worker's
 * incarnation gives its count back to the object it took it from and touches nobody else's.
 *
 * <p>Reads are lock-free and may come from any thread at any time. Each written field has one kind
 * of writer: leases (counts), the health monitor (load, probed availability), the circuit breaker
 * (suspicion), feedback (latency).
 */
public final class RankState {
  private static final int TOKENS_BITS = 48;
  private static final long TOKENS_MASK = (1L << TOKENS_BITS) - 1;

  // Plain fields behind updaters: a decision over a thousand ranks reads all of them.
  private static final AtomicIntegerFieldUpdater<RankState> IN_FLIGHT =
      AtomicIntegerFieldUpdater.newUpdater(RankState.class, "inFlight");
  private static final AtomicLongFieldUpdater<RankState> IN_FLIGHT_TOKENS =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "inFlightTokens");
  private static final AtomicLongFieldUpdater<RankState> UNSEEN =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "unseen");
  private static final AtomicLongFieldUpdater<RankState> UNSEEN_TOKENS =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "unseenTokens");

  private final WorkerRank target;
  private volatile int inFlight;
  private volatile long inFlightTokens;

  /** The telemetry sequence above 32 bits of requests begun since that reading. */
  private volatile long unseen;

  /** The telemetry sequence's low 16 bits above 48 bits of those requests' tokens. */
  private volatile long unseenTokens;

  private volatile @Nullable LoadSnapshot load;
  private volatile Availability probed = Availability.UNKNOWN;
  private volatile boolean suspect;
  private volatile double latencyMillis = Double.NaN;
  private volatile long lastSuccessNanos = Long.MIN_VALUE;

  /** Creates the state of a rank that has done nothing yet. */
  public RankState(WorkerRank target) {
    this.target = target;
  }

  /** Whose state this is. */
  public WorkerRank target() {
    return target;
  }

  /** Requests of this client running there now. */
  public int inFlight() {
    return inFlight;
  }

  /** Prompt tokens (estimated where not exact) of this client's requests running there now. */
  public long inFlightTokens() {
    return inFlightTokens;
  }

  /** Requests of this client running there that began after the last telemetry reading. */
  public int inFlightUnseen() {
    return (int) unseen;
  }

  /** Prompt tokens of the requests that {@link #inFlightUnseen} counts. */
  public long inFlightUnseenTokens() {
    return unseenTokens & TOKENS_MASK;
  }

  /** The last telemetry, or null before the first. */
  public @Nullable LoadSnapshot load() {
    return load;
  }

  /**
   * Moving average of this client's time to first byte there, in milliseconds; NaN before the
   * first.
   */
  public double latencyMillis() {
    return latencyMillis;
  }

  /**
   * The ticker's time of the last request that succeeded there; {@link Long#MIN_VALUE} before the
   * first.
   */
  public long lastSuccessNanos() {
    return lastSuccessNanos;
  }

  /** What is believed of it now. */
  public Availability availability() {
    if (probed == Availability.DOWN) {
      return Availability.DOWN;
    }
    return suspect ? Availability.SUSPECT : probed;
  }

  /** Whether it is only a last resort. */
  public boolean lastResort() {
    return suspect || probed == Availability.DOWN;
  }

  /**
   * Counts a request in.
   *
   * @param tokens its prompt tokens
   * @return what {@link #end} wants back
   */
  public long begin(int tokens) {
    IN_FLIGHT.incrementAndGet(this);
    IN_FLIGHT_TOKENS.addAndGet(this, tokens);
    long sequence = UNSEEN.incrementAndGet(this) >>> 32;
    // A reading may come between the two: each count is given back by the sequence it was taken in.
    return sequence << 16 | UNSEEN_TOKENS.addAndGet(this, tokens) >>> TOKENS_BITS;
  }

  /** Counts a request out: once per {@link #begin}, with the same tokens and the value it gave. */
  public void end(int tokens, long begun) {
    IN_FLIGHT.decrementAndGet(this);
    IN_FLIGHT_TOKENS.addAndGet(this, -tokens);
    long seen;
    do {
      seen = unseen;
    } while (seen >>> 32 == begun >>> 16 && !UNSEEN.compareAndSet(this, seen, seen - 1));
    do {
      seen = unseenTokens;
    } while (seen >>> TOKENS_BITS == (begun & 0xffff)
        && !UNSEEN_TOKENS.compareAndSet(this, seen, seen - tokens));
  }

  /** Takes a telemetry reading: what runs now is visible in it, or will be in the next. */
  public void observe(LoadSnapshot snapshot) {
    load = snapshot;
    long seen;
    do {
      seen = unseen;
    } while (!UNSEEN.compareAndSet(this, seen, ((seen >>> 32) + 1) << 32));
    do {
      seen = unseenTokens;
    } while (!UNSEEN_TOKENS.compareAndSet(this, seen, ((seen >>> TOKENS_BITS) + 1) << TOKENS_BITS));
  }

  /** Records what probing found. */
  public void probed(Availability availability) {
    probed = availability;
  }

  /** Records whether the circuit breaker holds it back. */
  public void suspect(boolean suspect) {
    this.suspect = suspect;
  }

  /**
   * Records a success: the first sample of latency is taken as it is, later ones with weight 0.2.
   *
   * @param firstByteMillis time to the first byte
   */
  public void succeeded(double firstByteMillis, long nowNanos) {
    lastSuccessNanos = nowNanos;
    double old = latencyMillis;
    latencyMillis = Double.isNaN(old) ? firstByteMillis : old + 0.2 * (firstByteMillis - old);
  }

  @Override
  public String toString() {
    return target + "[" + availability().label() + ", in flight " + inFlight() + "]";
  }
}
