package dev.warmpath.knowledge;

/**
 * How knowledge routing decides. The defaults are CacheRoute's.
 *
 * @param order order of the second stage's steps
 * @param window how the second stage compares load
 * @param overload when a node counts as overloaded
 * @param loadRatioDelta by how much a target's load ratio may exceed the least one under {@link
 *     LoadWindow#RATIO}; 0.1. With a capacity of 8 one request more is already too much
 * @param inFlightDelta by how many requests in flight a target may exceed the least busy one under
 *     {@link LoadWindow#IN_FLIGHT}; 2
 * @param gpuDelta by how many percent its GPU utilisation may exceed the least one; 0 switches this
 *     off
 * @param affinityDecay factor for what is remembered, at each decision; 0.9
 * @param affinityTopK pieces of knowledge remembered for each target; 256, 0 is without limit
 * @param strictReference whether to decide as the original does where that is odd: an unknown
 *     capacity is a full one, a latency tier of 0 the worst, load that was never reported is zero,
 *     a piece of knowledge named twice counts twice, targets that are not listed keep what is
 *     remembered of them, requests without knowledge make it fade, too, and a node is chosen even
 *     where none has any of what is wanted
 */
public record KnowledgeSettings(
    StageOrder order,
    LoadWindow window,
    OverloadThresholds overload,
    double loadRatioDelta,
    int inFlightDelta,
    double gpuDelta,
    double affinityDecay,
    int affinityTopK,
    boolean strictReference) {

  /** The defaults. */
  public static final KnowledgeSettings DEFAULT =
      new KnowledgeSettings(
          StageOrder.DOCUMENTED,
          LoadWindow.RATIO,
          OverloadThresholds.OFF,
          0.1,
          2,
          0,
          0.9,
          256,
          false);

  /** Refuses a decay outside of [0, 1), what is not finite, and a negative limit. */
  public KnowledgeSettings {
    finite("loadRatioDelta", loadRatioDelta);
    finite("gpuDelta", gpuDelta);
    if (!(affinityDecay >= 0 && affinityDecay < 1)) {
      throw new IllegalArgumentException(
          "affinityDecay=" + affinityDecay + " must be at least 0 and below 1");
    }
    if (affinityTopK < 0) {
      throw new IllegalArgumentException("affinityTopK=" + affinityTopK + " must be 0 or more");
    }
    loadRatioDelta = Math.max(0, loadRatioDelta);
    inFlightDelta = Math.max(0, inFlightDelta);
  }

  private static void finite(String name, double value) {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException(name + "=" + value + " must be a finite number");
    }
  }

  /** A builder that starts with the defaults. */
  public static Builder builder() {
    return DEFAULT.toBuilder();
  }

  /** A builder that starts with these settings. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Builds {@link KnowledgeSettings}. Not thread safe. */
  public static final class Builder {
    private StageOrder order;
    private LoadWindow window;
    private OverloadThresholds overload;
    private double loadRatioDelta;
    private int inFlightDelta;
    private double gpuDelta;
    private double affinityDecay;
    private int affinityTopK;
    private boolean strictReference;

    private Builder(KnowledgeSettings from) {
      order = from.order;
      window = from.window;
      overload = from.overload;
      loadRatioDelta = from.loadRatioDelta;
      inFlightDelta = from.inFlightDelta;
      gpuDelta = from.gpuDelta;
      affinityDecay = from.affinityDecay;
      affinityTopK = from.affinityTopK;
      strictReference = from.strictReference;
    }

    /** See {@link KnowledgeSettings#order()}. */
    public Builder order(StageOrder value) {
      order = value;
      return this;
    }

    /** See {@link KnowledgeSettings#window()}. */
    public Builder window(LoadWindow value) {
      window = value;
      return this;
    }

    /** See {@link KnowledgeSettings#overload()}. */
    public Builder overload(OverloadThresholds value) {
      overload = value;
      return this;
    }

    /** See {@link KnowledgeSettings#loadRatioDelta()}; a negative one is read as 0. */
    public Builder loadRatioDelta(double value) {
      loadRatioDelta = value;
      return this;
    }

    /** See {@link KnowledgeSettings#inFlightDelta()}; a negative one is read as 0. */
    public Builder inFlightDelta(int value) {
      inFlightDelta = value;
      return this;
    }

    /** See {@link KnowledgeSettings#gpuDelta()}. */
    public Builder gpuDelta(double value) {
      gpuDelta = value;
      return this;
    }

    /** See {@link KnowledgeSettings#affinityDecay()}. */
    public Builder affinityDecay(double value) {
      affinityDecay = value;
      return this;
    }

    /** See {@link KnowledgeSettings#affinityTopK()}. */
    public Builder affinityTopK(int value) {
      affinityTopK = value;
      return this;
    }

    /** See {@link KnowledgeSettings#strictReference()}. */
    public Builder strictReference(boolean value) {
      strictReference = value;
      return this;
    }

    /** The settings. */
    public KnowledgeSettings build() {
      return new KnowledgeSettings(
          order,
          window,
          overload,
          loadRatioDelta,
          inFlightDelta,
          gpuDelta,
          affinityDecay,
          affinityTopK,
          strictReference);
    }
  }
}
