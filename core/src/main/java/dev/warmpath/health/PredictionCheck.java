package dev.warmpath.health;

import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Compares what a rank was predicted to find in its cache with what it reports ({@code
 * cached_tokens}), and the client's token count of a prompt with the engine's. A rank whose
 * predictions keep failing becomes suspect, with the likely reason, and its predictions lose credit
 * until they come true again.
 *
 * <p>What is not reported is unknown and never a failed prediction. Lock-free, for any number of
 * threads; lives as long as its incarnation of the worker.
 */
public final class PredictionCheck {
  private static final int WINDOW = 8;
  private static final int ALL = (1 << WINDOW) - 1;

  /** Failed predictions among the last {@link #WINDOW} that make a rank suspect. */
  private static final int FAILED = 6;

  /** Token counts in a row that differ. */
  private static final int DIFFERENT = 3;

  /** What is allowed between prediction and report, in blocks: one on either side. */
  private static final int TOLERANCE_BLOCKS = 2;

  private static final double CREDIT_WEIGHT = 0.2;

  private final AtomicReference<State> state = new AtomicReference<>(State.START);

  /** Volatile for the many readers of decisions. */
  private volatile double credit = 1;

  /**
   * The outcome of one request.
   *
   * @param predicted prompt tokens that the rank was predicted to hold
   * @param tokens the client's count of the prompt's tokens
   * @param exact whether that count is claimed to be the engine's own
   * @param engineTokens the engine's count, or null where it reports none
   * @param cached the prompt tokens that it found in its cache, or null where it reports none
   * @param blockTokens the tokens of a block
   */
  public record Outcome(
      int predicted,
      int tokens,
      boolean exact,
      @Nullable Integer engineTokens,
      @Nullable Integer cached,
      int blockTokens) {}

  /** Why predictions may fail. */
  public enum Cause {
    /** The engine counts other prompt tokens: another template or tokenizer. */
    TEMPLATE_OR_TOKENIZER,
    /** Predicted hits fail although others are reported: seed, block size, or early eviction. */
    SEED_OR_BLOCK_SIZE,
    /** No hit was ever reported: prefix caching or its report is switched off. */
    CACHE_OR_REPORT_OFF,
    /** Hits that were not predicted: other clients' traffic, or another block size. */
    UNPREDICTED_HITS,
    /** Nothing is reported, so nothing is known. */
    UNREPORTED;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The lower-case name used in JSON and metrics. */
    public String label() {
      return label;
    }
  }

  /**
   * What is thought of a rank's predictions.
   *
   * @param suspect whether they keep failing
   * @param cause the likely cause, or null where there is nothing to say
   * @param reason the same in words
   * @param credit what they are weighed by, from 0 to 1
   * @param compared predictions of a hit that could be compared with a report
   * @param failed those that failed
   * @param unpredicted hits that nobody predicted
   * @param miscounted prompts whose tokens the engine counted differently
   * @param unreported requests without a report
   */
  public record Verdict(
      boolean suspect,
      @Nullable Cause cause,
      @Nullable String reason,
      double credit,
      long compared,
      long failed,
      long unpredicted,
      long miscounted,
      long unreported) {}

  /** History as bits, the latest lowest: one where a prediction failed. */
  private record State(
      int failures,
      int compared,
      int differences,
      int counted,
      int surprises,
      int reports,
      double realized,
      boolean everCached,
      int engineTokens,
      int clientTokens,
      long comparedTotal,
      long failedTotal,
      long surprisesTotal,
      long miscountedTotal,
      long unreportedTotal) {
    static final State START = new State(0, 0, 0, 0, 0, 0, 1, false, 0, 0, 0, 0, 0, 0, 0);

    boolean miscounts() {
      int last = (1 << DIFFERENT) - 1;
      return counted >= DIFFERENT && (differences & last) == last;
    }

    boolean fails() {
      return compared >= FAILED && Integer.bitCount(failures) >= FAILED;
    }

    boolean surprising() {
      return reports >= WINDOW && surprises == ALL;
    }
  }

  /** Takes note of an outcome. */
  public void observe(Outcome outcome) {
    State now = state.updateAndGet(before -> after(before, outcome));
    credit = now.fails() ? now.realized() : 1;
  }

  private static State after(State s, Outcome o) {
    int differences = s.differences;
    int counted = s.counted;
    long miscounted = s.miscountedTotal;
    int engineTokens = s.engineTokens;
    int clientTokens = s.clientTokens;
    Integer engine = o.engineTokens;
    if (engine != null && o.exact) {
      boolean differs = engine != o.tokens;
      differences = push(differences, differs);
      counted = Math.min(counted + 1, WINDOW);
      if (differs) {
        miscounted++;
        engineTokens = engine;
        clientTokens = o.tokens;
      }
    }
    Integer cached = o.cached;
    if (cached == null) {
      return new State(
          s.failures,
          s.compared,
          differences,
          counted,
          s.surprises,
          s.reports,
          s.realized,
          s.everCached,
          engineTokens,
          clientTokens,
          s.comparedTotal,
          s.failedTotal,
          s.surprisesTotal,
          miscounted,
          s.unreportedTotal + 1);
    }
    // An estimate is compared by its share of the prompt.
    double predicted =
        engine == null || o.tokens == 0 ? o.predicted : (double) o.predicted * engine / o.tokens;
    int slack = TOLERANCE_BLOCKS * o.blockTokens;
    boolean surprise = cached > predicted + slack;
    int failures = s.failures;
    int compared = s.compared;
    double realized = s.realized;
    boolean failed = false;
    if (predicted > slack) {
      failed = cached < predicted / 2;
      failures = push(failures, failed);
      compared = Math.min(compared + 1, WINDOW);
      realized += CREDIT_WEIGHT * (Math.min(1, cached / predicted) - realized);
    }
    return new State(
        failures,
        compared,
        differences,
        counted,
        push(s.surprises, surprise),
        Math.min(s.reports + 1, WINDOW),
        realized,
        s.everCached || cached > 0,
        engineTokens,
        clientTokens,
        s.comparedTotal + (predicted > slack ? 1 : 0),
        s.failedTotal + (failed ? 1 : 0),
        s.surprisesTotal + (surprise ? 1 : 0),
        miscounted,
        s.unreportedTotal);
  }

  private static int push(int history, boolean bit) {
    return (history << 1 | (bit ? 1 : 0)) & ALL;
  }

  /** What predictions of this rank are weighed by: 1 unless they keep failing. */
  public double credit() {
    return credit;
  }

  /** Whether the engine's own block hashes may be trusted to be the client's. */
  public boolean suspect() {
    State s = Objects.requireNonNull(state.get());
    return s.miscounts() || s.fails() || s.surprising();
  }

  /** What is thought of the rank now. */
  public Verdict verdict() {
    State s = Objects.requireNonNull(state.get());
    Cause cause = null;
    String reason = null;
    if (s.miscounts()) {
      cause = Cause.TEMPLATE_OR_TOKENIZER;
      reason =
          "template or tokenizer: the engine counts "
              + s.engineTokens
              + " prompt tokens where the client counts "
              + s.clientTokens;
    } else if (s.fails()) {
      cause = s.everCached ? Cause.SEED_OR_BLOCK_SIZE : Cause.CACHE_OR_REPORT_OFF;
      reason =
          s.everCached
              ? "predicted hits fail: seed, block size, or a cache that evicts sooner than known"
              : "no hit was ever reported: prefix caching or its report is switched off";
    } else if (s.surprising()) {
      cause = Cause.UNPREDICTED_HITS;
      reason = "hits that were not predicted: other clients' traffic, or another block size";
    } else if (s.reports == 0 && s.unreportedTotal >= WINDOW) {
      cause = Cause.UNREPORTED;
      reason = "unknown: the engine reports no cached tokens";
    }
    return new Verdict(
        s.miscounts() || s.fails() || s.surprising(),
        cause,
        reason,
        credit,
        s.comparedTotal,
        s.failedTotal,
        s.surprisesTotal,
        s.miscountedTotal,
        s.unreportedTotal);
  }
}
