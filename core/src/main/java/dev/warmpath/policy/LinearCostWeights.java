package dev.warmpath.policy;

/**
 * The weights of {@code linear_cost}: {@code running*R + waiting*W + usage*T + inFlight*I +
 * latency*L - hitRate*C - prefix*P}, lowest first. The unit is one running request.
 *
 * @param running of R, requests the engine computes; 1 by default, the unit
 * @param waiting of W, requests queued in the engine; 2 by default: a queued request still has all
 *     of its prefill ahead, and all of ours waits for it
 * @param usage of T, KV token usage 0..1; 4 by default: a full cache counts as four requests, so it
 *     matters little while there is room and sends work away before the engine must preempt
 * @param inFlight of I, this client's requests that telemetry does not show yet, and its prompt
 *     tokens still to be computed there, which telemetry never shows, over {@link
 *     RoutingEnvironment#tokensPerRequest}; 1 by default
 * @param latency of L, the rank's time to first byte relative to the fleet's mean, 1 where unknown
 *     and never above 4; 1 by default: a rank that is twice as slow counts as one request more, one
 *     that hangs as three
 * @param hitRate of C, the engine's recent cache hit rate 0..1; 0.5 by default: it says that a rank
 *     is good for others' prompts, not for this one, and whoever follows it makes it true, so it
 *     may do no more than break near-ties
 * @param prefix of P, the prompt tokens that this rank need not compute and that not every other
 *     holds too, over {@link RoutingEnvironment#tokensPerRequest}; those that a {@link
 *     dev.warmpath.index.BlockLocator} found count by their tier; 2 by default, twice a token still
 *     to be computed for others: what is computed elsewhere is paid for now, and again when the
 *     conversation goes on
 */
public record LinearCostWeights(
    double running,
    double waiting,
    double usage,
    double inFlight,
    double latency,
    double hitRate,
    double prefix) {

  /** The defaults, with their reasons above. */
  public static final LinearCostWeights DEFAULT = new LinearCostWeights(1, 2, 4, 1, 1, 0.5, 2);

  /** Refuses weights that are negative or not finite. */
  public LinearCostWeights {
    check("running", running);
    check("waiting", waiting);
    check("usage", usage);
    check("inFlight", inFlight);
    check("latency", latency);
    check("hitRate", hitRate);
    check("prefix", prefix);
  }

  private static void check(String name, double weight) {
    if (!(weight >= 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "linear_cost weight " + name + "=" + weight + " must be 0 or more, and finite");
    }
  }

  /** A builder that starts with these weights. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** A builder that starts with the defaults. */
  public static Builder builder() {
    return DEFAULT.toBuilder();
  }

  /** Builds {@link LinearCostWeights}. Not thread safe. */
  public static final class Builder {
    private double running;
    private double waiting;
    private double usage;
    private double inFlight;
    private double latency;
    private double hitRate;
    private double prefix;

    private Builder(LinearCostWeights from) {
      this.running = from.running;
      this.waiting = from.waiting;
      this.usage = from.usage;
      this.inFlight = from.inFlight;
      this.latency = from.latency;
      this.hitRate = from.hitRate;
      this.prefix = from.prefix;
    }

    /** Sets the weight of R. */
    public Builder running(double weight) {
      this.running = weight;
      return this;
    }

    /** Sets the weight of W. */
    public Builder waiting(double weight) {
      this.waiting = weight;
      return this;
    }

    /** Sets the weight of T. */
    public Builder usage(double weight) {
      this.usage = weight;
      return this;
    }

    /** Sets the weight of I. */
    public Builder inFlight(double weight) {
      this.inFlight = weight;
      return this;
    }

    /** Sets the weight of L. */
    public Builder latency(double weight) {
      this.latency = weight;
      return this;
    }

    /** Sets the weight of C. */
    public Builder hitRate(double weight) {
      this.hitRate = weight;
      return this;
    }

    /** Sets the weight of P. */
    public Builder prefix(double weight) {
      this.prefix = weight;
      return this;
    }

    /** The finished weights. */
    public LinearCostWeights build() {
      return new LinearCostWeights(running, waiting, usage, inFlight, latency, hitRate, prefix);
    }
  }
}
