package dev.warmpath.policy;

import dev.warmpath.health.PrefillStatistics;
import dev.warmpath.index.BlockLookup;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.index.TierWeights;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What all decisions of one client share: where prefixes are looked up, where prompts part and what
 * was learned of prefills, the round-robin turns, how long telemetry is believed, and the working
 * memory that decisions borrow. Lives as long as the client. Thread safe.
 */
public final class RoutingEnvironment {
  /**
   * 15 s: three times the slowest default poll interval, so that one lost reading does not make a
   * rank unknown, and three do.
   */
  public static final Duration DEFAULT_TELEMETRY_LIMIT = Duration.ofSeconds(15);

  /** See {@link Builder#tokensPerRequest}. */
  public static final int DEFAULT_TOKENS_PER_REQUEST = 512;

  private static final long LEAST_BRANCHES = 64 << 10;

  private final PrefixSource prefixes;
  private final BranchTrie branches;
  private final PrefillStatistics prefills = new PrefillStatistics();
  private final Cursors cursors;
  private volatile long telemetryLimitNanos;
  private final int tokensPerRequest;
  private final @Nullable BlockLookup lookup;
  private final BoardPool boards;
  private final PolicySwitch policySwitch;

  private RoutingEnvironment(Builder builder) {
    this.prefixes = builder.prefixes;
    BranchTrie branches = builder.branches;
    this.branches =
        branches == null ? BranchTrie.builder().budgetBytes(LEAST_BRANCHES).build() : branches;
    this.cursors = new Cursors(builder.seed);
    this.telemetryLimitNanos = builder.telemetryLimit.toNanos();
    this.tokensPerRequest = builder.tokensPerRequest;
    this.lookup = builder.lookup;
    this.boards = new BoardPool(prefixes);
    this.policySwitch = new PolicySwitch(builder.rollout);
  }

  /** Starts an environment without prefix source. */
  public static Builder builder() {
    return new Builder();
  }

  /** Where prefixes are looked up. */
  public PrefixSource prefixes() {
    return prefixes;
  }

  /** Where prompts are looked up outside of the client before a decision, or null. */
  public @Nullable BlockLookup lookup() {
    return lookup;
  }

  /** What a block that such a look-up found is worth in each tier. */
  public TierWeights tierWeights() {
    return lookup == null ? TierWeights.DEFAULT : lookup.weights();
  }

  /** Where prompts part. */
  public BranchTrie branches() {
    return branches;
  }

  /** What was learned of prefills. */
  public PrefillStatistics prefills() {
    return prefills;
  }

  /** The round-robin turns. */
  public Cursors cursors() {
    return cursors;
  }

  /** How old a telemetry reading may be and still be believed, in nanoseconds. */
  public long telemetryLimitNanos() {
    return telemetryLimitNanos;
  }

  /** Sets that age for decisions from now on. */
  public void telemetryLimit(Duration age) {
    telemetryLimitNanos = age.toNanos();
  }

  /** How many prompt tokens weigh as much as one request. */
  public int tokensPerRequest() {
    return tokensPerRequest;
  }

  /** Which policy requests go by. */
  public PolicySwitch policySwitch() {
    return policySwitch;
  }

  BoardPool boards() {
    return boards;
  }

  /** Builds a {@link RoutingEnvironment}. Not thread safe. */
  public static final class Builder {
    private PrefixSource prefixes = PrefixSource.NONE;
    private @Nullable BranchTrie branches;
    private long seed;
    private Duration telemetryLimit = DEFAULT_TELEMETRY_LIMIT;
    private int tokensPerRequest = DEFAULT_TOKENS_PER_REQUEST;
    private @Nullable BlockLookup lookup;
    private RolloutSettings rollout = RolloutSettings.DEFAULT;

    private Builder() {}

    /** Sets how much of the traffic the configured policy decides; all of it by default. */
    public Builder rollout(RolloutSettings rollout) {
      this.rollout = rollout;
      return this;
    }

    /** Sets where prefixes are looked up; {@link PrefixSource#NONE} by default. */
    public Builder prefixes(PrefixSource prefixes) {
      this.prefixes = prefixes;
      return this;
    }

    /** Sets where prompts are looked up outside of the client; nowhere by default. */
    public Builder lookup(@Nullable BlockLookup lookup) {
      this.lookup = lookup;
      return this;
    }

    /** Sets where it is kept where prompts part; a small one of its own by default. */
    public Builder branches(BranchTrie branches) {
      this.branches = branches;
      return this;
    }

    /** Sets the chance that round robin starts by; 0 by default. */
    public Builder seed(long seed) {
      this.seed = seed;
      return this;
    }

    /**
     * Sets how old a telemetry reading may be and still be believed; {@link
     * #DEFAULT_TELEMETRY_LIMIT} by default. Behind an older one, load is this client's own
     * in-flight requests and what other ranks show of other clients.
     *
     * @throws IllegalArgumentException when it is not positive
     */
    public Builder telemetryLimit(Duration telemetryLimit) {
      if (telemetryLimit.isNegative() || telemetryLimit.isZero()) {
        throw new IllegalArgumentException(
            "telemetry limit " + telemetryLimit + " must be positive");
      }
      this.telemetryLimit = telemetryLimit;
      return this;
    }

    /**
     * Sets the number of prompt tokens whose prefill weighs as much as one more running request:
     * what makes one long request heavier than a short one, and saved tokens comparable to load;
     * {@link #DEFAULT_TOKENS_PER_REQUEST} by default. Engines that prefill faster, or batch
     * decoding worse, want more.
     *
     * @throws IllegalArgumentException when it is not positive
     */
    public Builder tokensPerRequest(int tokensPerRequest) {
      if (tokensPerRequest <= 0) {
        throw new IllegalArgumentException(
            "tokens per request " + tokensPerRequest + " must be positive");
      }
      this.tokensPerRequest = tokensPerRequest;
      return this;
    }

    /** The finished environment. */
    public RoutingEnvironment build() {
      return new RoutingEnvironment(this);
    }
  }
}
