package dev.warmpath.policy;

/**
 * How {@code homing} weighs what it knows. What decides where a prompt's home is can't be set,
 * since all clients of a fleet must agree on it.
 *
 * @param ranks of a prompt's own order of workers, how many are considered beside its replicas; 4
 *     by default. With one a queue is never left, with more than eight nothing is gained
 * @param prefill what a millisecond of computing this prompt weighs, against one of waiting; 1 by
 *     default
 * @param load how much more it weighs for each request that the fleet's ranks have waiting on
 *     average; 1 by default. When all are busy, what is computed twice is paid for by everybody;
 *     where ranks report their caches it counts double, since less of it is guesswork
 * @param displacement what the follow-ups of a prompt cost that is sent away from home, by how
 *     often such are seen; 1 by default. Who sends it away does not see them: they come to other
 *     clients
 * @param marginMillis what must be saved to leave home at all, in milliseconds; 5 by default
 * @param requestMillis what each request at a worker adds to the wait there; 0.5 ms by default
 * @param millisPerToken what an uncached token takes, in milliseconds; NaN, the default, learns it
 *     of each rank
 * @param branches whether the home is that of the prompt's branch; true by default. Without, it is
 *     that of its first block: for comparison only
 */
public record HomingSettings(
    int ranks,
    double prefill,
    double load,
    double displacement,
    double marginMillis,
    double requestMillis,
    double millisPerToken,
    boolean branches) {
  /** The most that {@link #ranks} may be. */
  static final int MOST_RANKS = 8;

  /** The defaults, with their reasons above. */
  public static final HomingSettings DEFAULT =
      new HomingSettings(4, 1, 1, 1, 5, 0.5, Double.NaN, true);

  /**
   * Stays at home longer: some per cent more of the prompts are found in caches, for longer waits
   * when the fleet is busy.
   */
  public static final HomingSettings LOCALITY =
      DEFAULT.toBuilder().ranks(3).prefill(1.5).displacement(2).build();

  /** Refuses what is out of range. */
  public HomingSettings {
    if (ranks < 1 || ranks > MOST_RANKS) {
      throw new IllegalArgumentException("homing ranks=" + ranks + " must be 1 to " + MOST_RANKS);
    }
    check("prefill", prefill);
    check("load", load);
    check("displacement", displacement);
    check("marginMillis", marginMillis);
    check("requestMillis", requestMillis);
    if (!Double.isNaN(millisPerToken) && !(millisPerToken > 0 && millisPerToken < 1_000)) {
      throw new IllegalArgumentException(
          "homing millisPerToken=" + millisPerToken + " must be above 0 and below 1000, or NaN");
    }
  }

  private static void check(String name, double value) {
    if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "homing " + name + "=" + value + " must be 0 or more, and finite");
    }
  }

  /** A builder that starts with these settings. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** A builder that starts with the defaults. */
  public static Builder builder() {
    return DEFAULT.toBuilder();
  }

  /** Builds {@link HomingSettings}. Not thread safe. */
  public static final class Builder {
    private int ranks;
    private double prefill;
    private double load;
    private double displacement;
    private double marginMillis;
    private double requestMillis;
    private double millisPerToken;
    private boolean branches;

    private Builder(HomingSettings from) {
      ranks = from.ranks;
      prefill = from.prefill;
      load = from.load;
      displacement = from.displacement;
      marginMillis = from.marginMillis;
      requestMillis = from.requestMillis;
      millisPerToken = from.millisPerToken;
      branches = from.branches;
    }

    /** Sets {@link HomingSettings#ranks}. */
    public Builder ranks(int ranks) {
      this.ranks = ranks;
      return this;
    }

    /** Sets {@link HomingSettings#prefill}. */
    public Builder prefill(double prefill) {
      this.prefill = prefill;
      return this;
    }

    /** Sets {@link HomingSettings#load}. */
    public Builder load(double load) {
      this.load = load;
      return this;
    }

    /** Sets {@link HomingSettings#displacement}. */
    public Builder displacement(double displacement) {
      this.displacement = displacement;
      return this;
    }

    /** Sets {@link HomingSettings#marginMillis}. */
    public Builder marginMillis(double marginMillis) {
      this.marginMillis = marginMillis;
      return this;
    }

    /** Sets {@link HomingSettings#requestMillis}. */
    public Builder requestMillis(double requestMillis) {
      this.requestMillis = requestMillis;
      return this;
    }

    /** Sets {@link HomingSettings#millisPerToken}. */
    public Builder millisPerToken(double millisPerToken) {
      this.millisPerToken = millisPerToken;
      return this;
    }

    /** Sets {@link HomingSettings#branches}. */
    public Builder branches(boolean branches) {
      this.branches = branches;
      return this;
    }

    /** The finished settings. */
    public HomingSettings build() {
      return new HomingSettings(
          ranks,
          prefill,
          load,
          displacement,
          marginMillis,
          requestMillis,
          millisPerToken,
          branches);
    }
  }
}
