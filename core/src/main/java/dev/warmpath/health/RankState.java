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
 * (suspicion), feedback (latency, proof of life, outcomes).
 */
public final class RankState {
  /** {@link #lastSuccessNanos()} before the first success. */
  public static final long NEVER = Long.MIN_VALUE;

  private static final double LATENCY_WEIGHT = 0.2;

  /** So that there is a logarithm. */
  private static final double LEAST_MILLIS = 1e-3;

  /** A slower answer moves {@link #quickMillis()} half as far as a quicker one. */
  private static final double SLOWER_WEIGHT = 0.1;

  /** In the value of {@link #begin}, beside the generation. */
  private static final long STREAMED = 1L << 32;

  // Plain fields behind updaters: a decision over a thousand ranks reads all of them.
  private static final AtomicIntegerFieldUpdater<RankState> IN_FLIGHT =
      AtomicIntegerFieldUpdater.newUpdater(RankState.class, "inFlight");
  private static final AtomicLongFieldUpdater<RankState> UNSEEN =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "unseen");
  private static final AtomicLongFieldUpdater<RankState> STREAMED_TOKENS =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "streamedTokens");
  private static final AtomicLongFieldUpdater<RankState> EVEN_TOKENS =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "evenTokens");
  private static final AtomicLongFieldUpdater<RankState> ODD_TOKENS =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "oddTokens");
  private static final AtomicLongFieldUpdater<RankState> EVEN_STREAMED =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "evenStreamed");
  private static final AtomicLongFieldUpdater<RankState> ODD_STREAMED =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "oddStreamed");
  private static final AtomicLongFieldUpdater<RankState> LATENCY_BITS =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "latencyBits");
  private static final AtomicLongFieldUpdater<RankState> QUICK_BITS =
      AtomicLongFieldUpdater.newUpdater(RankState.class, "quickBits");

  private static final AtomicIntegerFieldUpdater<RankState> SUCCESSES =
      AtomicIntegerFieldUpdater.newUpdater(RankState.class, "successes");
  private static final AtomicIntegerFieldUpdater<RankState> FAILURES =
      AtomicIntegerFieldUpdater.newUpdater(RankState.class, "failures");

  private final WorkerRank target;
  private volatile int inFlight;

  /**
   * Requests that telemetry may not show yet, see {@link Unseen}: those begun since the last sample
   * was asked for, and those begun before it while its reading is still out.
   */
  private volatile long unseen;

  /** Tokens of streamed requests without a first byte. */
  private volatile long streamedTokens;

  /**
   * Tokens of the other unseen requests: of even generations, and of odd ones, since two
   * generations live at a time.
   */
  private volatile long evenTokens;

  private volatile long oddTokens;

  /** Tokens of the streamed requests among the unseen that have no first byte, likewise. */
  private volatile long evenStreamed;

  private volatile long oddStreamed;

  private volatile long latencyBits = Double.doubleToRawLongBits(Double.NaN);

  /** The logarithm of {@link #quickMillis()}. */
  private volatile long quickBits = Double.doubleToRawLongBits(Double.NaN);

  private volatile @Nullable LoadSnapshot load;
  private volatile Availability probed = Availability.UNKNOWN;
  private volatile boolean suspect;
  private volatile long lastSuccessNanos = NEVER;
  private volatile int successes;
  private volatile int failures;
  private volatile Degradation degradation = Degradation.NONE;

  /** Its shares, apart: a decision reads one of every rank. */
  private volatile double share = 1;

  private volatile double affinityShare = 1;

  private volatile @Nullable Witness witness;
  private final PredictionCheck predictions = new PredictionCheck();
  private final PrefillPace pace = new PrefillPace();

  /**
   * Hears at once what must not wait for the next look. Runs on the thread that brings the news.
   */
  interface Witness {
    /** Proof of life contradicts {@link #probed}. */
    void revived();

    /** A request of this client has failed there. */
    void failed();

    /** The circuit breaker lets go of it. */
    void released();
  }

  /** Creates the state of a rank that has done nothing yet. */
  public RankState(WorkerRank target) {
    this.target = target;
  }

  /** Whose state this is. */
  public WorkerRank target() {
    return target;
  }

  /** How its cache hits compare with what was predicted. */
  public PredictionCheck predictions() {
    return predictions;
  }

  /** How long it takes to compute a prompt token. */
  public PrefillPace pace() {
    return pace;
  }

  /** Requests of this client running there now. */
  public int inFlight() {
    return inFlight;
  }

  /**
   * Requests of this client running there that the last telemetry reading can't show, because they
   * began after it was asked for.
   */
  public int inFlightUnseen() {
    return Unseen.count(unseen);
  }

  /**
   * Prompt tokens that this client has sent there and that are probably still to be computed, which
   * no telemetry shows: of a streamed request until its first byte; of another, whose first byte
   * comes with its last, until the next telemetry reading or its end.
   */
  public long prefillTokens() {
    long streamed = streamedTokens;
    if (Unseen.noTokens(evenTokens) && Unseen.noTokens(oddTokens)) {
      return streamed; // as where all is streamed: decisions come by here for every rank
    }
    return streamed + unseenTokens(evenTokens, oddTokens);
  }

  /**
   * Those of the {@link #prefillTokens()} that were sent after telemetry was last asked for: what
   * the engine's own figures can't contain.
   */
  public long prefillTokensUnseen() {
    long tokens = 0;
    if (!Unseen.noTokens(evenStreamed) || !Unseen.noTokens(oddStreamed)) {
      tokens = unseenTokens(evenStreamed, oddStreamed);
    }
    return Unseen.noTokens(evenTokens) && Unseen.noTokens(oddTokens)
        ? tokens
        : tokens + unseenTokens(evenTokens, oddTokens);
  }

  private long unseenTokens(long even, long odd) {
    long word = unseen;
    long generation = Unseen.generation(word);
    long previous = Unseen.previous(word);
    long tokens = Unseen.tokens((generation & 1) == 0 ? even : odd, generation);
    return Unseen.asked(word)
        ? tokens + Unseen.tokens((previous & 1) == 0 ? even : odd, previous)
        : tokens;
  }

  private static AtomicLongFieldUpdater<RankState> tokenUpdater(long begun) {
    boolean even = (begun & 1) == 0;
    return (begun & STREAMED) == 0
        ? even ? EVEN_TOKENS : ODD_TOKENS
        : even ? EVEN_STREAMED : ODD_STREAMED;
  }

  /** The last telemetry, or null before the first. */
  public @Nullable LoadSnapshot load() {
    return load;
  }

  /**
   * The last telemetry if it may still be believed, else null: then it is unknown, not zero.
   *
   * @param staleAfterNanos how old it may be, see {@link HealthSettings#telemetryStaleAfter()}
   */
  public @Nullable LoadSnapshot freshLoad(long nowNanos, long staleAfterNanos) {
    LoadSnapshot last = load;
    return last == null || last.ageNanos(nowNanos) > staleAfterNanos ? null : last;
  }

  /**
   * Moving average of this client's time to first byte there, in milliseconds; NaN before the
   * first.
   */
  public double latencyMillis() {
    return Double.longBitsToDouble(latencyBits);
  }

  /**
   * What the quicker of this client's requests there take to their first byte, in milliseconds; NaN
   * before the first. A moving average of the logarithm, which slower ones hold up less than quick
   * ones hold it down: a long prompt makes those behind it wait on the best of GPUs, and a GPU that
   * is slow has no quick answers.
   */
  public double quickMillis() {
    return Math.exp(Double.longBitsToDouble(quickBits));
  }

  /**
   * The ticker's time of the last proof that it works for this client: a request that succeeded or
   * a stream that flowed; {@link #NEVER} before the first.
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

  /** Whether it is only a last resort: suspect or down. */
  public boolean lastResort() {
    return suspect || probed == Availability.DOWN || probed == Availability.SUSPECT;
  }

  /**
   * Counts a request in.
   *
   * @param tokens its prompt tokens that the rank has to compute: without those it holds already
   * @param streamed whether its first byte tells that its prompt was computed
   * @return what {@link #computed} and {@link #end} want back
   */
  public long begin(int tokens, boolean streamed) {
    IN_FLIGHT.incrementAndGet(this);
    long generation = Unseen.generation(UNSEEN.incrementAndGet(this));
    long begun = streamed ? generation | STREAMED : generation;
    if (streamed) {
      STREAMED_TOKENS.addAndGet(this, tokens);
    }
    AtomicLongFieldUpdater<RankState> tokenWord = tokenUpdater(begun);
    long before;
    long after;
    do {
      before = tokenWord.get(this);
      after = Unseen.tokensAdded(before, generation, tokens);
    } while (before != after && !tokenWord.compareAndSet(this, before, after));
    return begun;
  }

  /**
   * Its prompt is computed: the first byte came, or the request is over. Once per {@link #begin},
   * with the same tokens and the value it gave.
   */
  public void computed(int tokens, long begun) {
    if ((begun & STREAMED) != 0) {
      STREAMED_TOKENS.addAndGet(this, -tokens);
    }
    AtomicLongFieldUpdater<RankState> tokenWord = tokenUpdater(begun);
    long before;
    long after;
    do {
      before = tokenWord.get(this);
      after = Unseen.tokensEnded(before, begun & ~STREAMED, tokens);
    } while (before != after && !tokenWord.compareAndSet(this, before, after));
  }

  /** Counts a request out: once per {@link #begin}, with the value it gave. */
  public void end(long begun) {
    IN_FLIGHT.decrementAndGet(this);
    long generation = begun & ~STREAMED;
    long before;
    long after;
    do {
      before = unseen;
      after = Unseen.ended(before, generation);
    } while (before != after && !UNSEEN.compareAndSet(this, before, after));
  }

  /**
   * Marks the moment at which a telemetry reading is asked for: what begins from now on can't be in
   * it. The reading follows through {@link #observe}, or never when it fails.
   */
  public void sampling() {
    UNSEEN.getAndUpdate(this, Unseen::sampled);
  }

  /**
   * Takes a telemetry reading: what ran when it was asked for (at {@link #sampling}, or now if it
   * was not told) is visible in it from here on.
   */
  public void observe(LoadSnapshot snapshot) {
    load = snapshot;
    UNSEEN.getAndUpdate(this, Unseen::observed);
  }

  /** What probing last found, whatever the circuit breaker says. */
  Availability probed() {
    return probed;
  }

  /** Records what probing found. */
  public void probed(Availability availability) {
    probed = availability;
  }

  /** Records whether the circuit breaker holds it back. */
  public void suspect(boolean suspect) {
    boolean released = this.suspect && !suspect;
    this.suspect = suspect;
    Witness hears = witness;
    if (released && hears != null) {
      hears.released();
    }
  }

  /** What is wrong with it although it answers, and what that costs it in traffic. */
  public Degradation degradation() {
    return degradation;
  }

  /** Records what is wrong with it. */
  public void degradation(Degradation degradation) {
    this.degradation = degradation;
    this.share = degradation.share();
    this.affinityShare = degradation.affinityShare();
  }

  /**
   * The part of its requests that it keeps.
   *
   * @param affinity whether the policy sends requests to where their prompts' KV is: {@link
   *     Degradation#affinityShare()} then, else {@link Degradation#share()}
   */
  public double share(boolean affinity) {
    return affinity ? affinityShare : share;
  }

  /** Its availability in a word, or, where it is up but degraded, by what. */
  public String label() {
    Availability availability = availability();
    return availability == Availability.UP ? degradation.label() : availability.label();
  }

  /** How many requests of this client have succeeded there; wraps around. */
  int successes() {
    return successes;
  }

  /** How many have failed there; wraps around. */
  int failures() {
    return failures;
  }

  /** Records that a request failed by the rank's fault, so that it is looked at soon. */
  public void failed() {
    FAILURES.incrementAndGet(this);
    Witness hears = witness;
    if (hears != null) {
      hears.failed();
    }
  }

  /**
   * Records a success, which is proof of life too: a rank that probes hold for down or unknown is
   * up at once. The first sample of latency is taken as it is, later ones with weight 0.2.
   *
   * @param firstByteMillis time to the first byte
   */
  public void succeeded(double firstByteMillis, long nowNanos) {
    LATENCY_BITS.getAndUpdate(this, bits -> moved(bits, firstByteMillis, LATENCY_WEIGHT));
    double log = Math.log(Math.max(LEAST_MILLIS, firstByteMillis));
    QUICK_BITS.getAndUpdate(this, bits -> moved(bits, log, SLOWER_WEIGHT));
    SUCCESSES.incrementAndGet(this);
    alive(nowNanos);
  }

  private static long moved(long bits, double sample, double weightAbove) {
    double old = Double.longBitsToDouble(bits);
    double weight = sample > old ? weightAbove : LATENCY_WEIGHT;
    return Double.doubleToRawLongBits(Double.isNaN(old) ? sample : old + weight * (sample - old));
  }

  /**
   * Records proof of life without a latency: a stream that goes on, say. Cheap enough for every
   * event of a stream.
   */
  public void alive(long nowNanos) {
    // Before the look at probed: the monitor writes probed and then looks here, so that one of the
    // two sees the other and a proof that crosses a verdict is never lost.
    lastSuccessNanos = nowNanos;
    if (probed != Availability.UP) {
      probed = Availability.UP;
      Witness hears = witness;
      if (hears != null) {
        hears.revived();
      }
    }
  }

  /** Sets who hears of news; null for nobody. */
  void watchedBy(@Nullable Witness witness) {
    this.witness = witness;
  }

  @Override
  public String toString() {
    return target + "[" + availability().label() + ", in flight " + inFlight() + "]";
  }
}
