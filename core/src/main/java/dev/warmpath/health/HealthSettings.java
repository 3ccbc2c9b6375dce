package dev.warmpath.health;

import java.time.Duration;

/**
 * How often workers are looked at, and what is made of what they say. Immutable. Every client of a
 * fleet does this for itself: with forty replicas a worker answers forty times each rate. Intervals
 * are stretched at random by up to a tenth.
 *
 * @param probeInterval between two health probes of a worker that is well, 10 s by default; SGLang
 *     runs a one-token generation for each, so it is never asked more often than every 10 s,
 *     whatever stands here. A worker that has just served this client is not asked at all.
 * @param recheckInterval to the next probe of a worker whose connection was refused, doubling up to
 *     {@code probeInterval}, and between the probes that decide on one that is failing or coming
 *     back (SGLang: 10 s); 1 s by default: a refused connection costs the engine nothing
 * @param probeTimeout for one health probe, 10 s by default: SGLang needs a second at best and
 *     several behind a long prefill
 * @param failuresToDown consecutive failures that make a worker down, 2 by default: one is an
 *     accident
 * @param passesToUp consecutive passes that bring a worker that was down up again, 3 by default;
 *     its first pass ever needs no second, so that a fresh client starts at once
 * @param proofOfLifeWindow for how long a success of this client's own requests outweighs probes
 *     that time out, 60 s by default: a probe waits behind long prefills and compilations
 * @param loadMin the shortest time between two load polls, 1 s by default, at least 100 ms
 * @param loadMax the longest, 5 s by default; ATOM's own numbers are as old as that
 * @param loadTimeout for one load poll, 2 s by default
 * @param capabilityInterval between two looks at what a worker is, 60 s by default: LoRA adapters
 *     come and go, and the look makes SGLang's scheduler answer
 * @param capabilityTimeout for one such look, 10 s by default
 * @param telemetryStaleAfter the age at which a load reading is no longer believed, 15 s by
 *     default: three polls missed at the slowest pace
 * @param degradation when a worker that answers is sent less than its part
 */
public record HealthSettings(
    Duration probeInterval,
    Duration recheckInterval,
    Duration probeTimeout,
    int failuresToDown,
    int passesToUp,
    Duration proofOfLifeWindow,
    Duration loadMin,
    Duration loadMax,
    Duration loadTimeout,
    Duration capabilityInterval,
    Duration capabilityTimeout,
    Duration telemetryStaleAfter,
    DegradationSettings degradation) {

  /** The floor of {@link #loadMin()}. */
  public static final Duration LOAD_FLOOR = Duration.ofMillis(100);

  /** The least time between two health probes that an SGLang worker answers. */
  public static final Duration SGLANG_PROBE_FLOOR = Duration.ofSeconds(10);

  /** The defaults. */
  public static final HealthSettings DEFAULT =
      new HealthSettings(
          Duration.ofSeconds(10),
          Duration.ofSeconds(1),
          Duration.ofSeconds(10),
          2,
          3,
          Duration.ofSeconds(60),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5),
          Duration.ofSeconds(2),
          Duration.ofSeconds(60),
          Duration.ofSeconds(10),
          Duration.ofSeconds(15),
          DegradationSettings.DEFAULT);

  /** Checks every value; the message says which one to correct. */
  public HealthSettings {
    positive("probeInterval", probeInterval);
    positive("recheckInterval", recheckInterval);
    positive("probeTimeout", probeTimeout);
    positive("loadTimeout", loadTimeout);
    positive("capabilityInterval", capabilityInterval);
    positive("capabilityTimeout", capabilityTimeout);
    positive("telemetryStaleAfter", telemetryStaleAfter);
    if (proofOfLifeWindow.isNegative()) {
      throw new IllegalArgumentException("proofOfLifeWindow must not be negative");
    }
    if (failuresToDown < 1 || passesToUp < 1) {
      throw new IllegalArgumentException("failuresToDown and passesToUp must be at least 1");
    }
    if (loadMin.compareTo(LOAD_FLOOR) < 0) {
      throw new IllegalArgumentException("loadMin must be at least 100 ms");
    }
    if (loadMin.compareTo(loadMax) > 0) {
      throw new IllegalArgumentException("loadMin must not exceed loadMax");
    }
  }

  private static void positive(String name, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + " must be longer than nothing");
    }
  }

  /** A builder holding the defaults. */
  public static Builder builder() {
    return DEFAULT.toBuilder();
  }

  /** A builder holding these values. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Builds {@link HealthSettings}. Not thread safe. */
  public static final class Builder {
    private Duration probeInterval;
    private Duration recheckInterval;
    private Duration probeTimeout;
    private int failuresToDown;
    private int passesToUp;
    private Duration proofOfLifeWindow;
    private Duration loadMin;
    private Duration loadMax;
    private Duration loadTimeout;
    private Duration capabilityInterval;
    private Duration capabilityTimeout;
    private Duration telemetryStaleAfter;
    private DegradationSettings degradation;

    private Builder(HealthSettings from) {
      probeInterval = from.probeInterval;
      recheckInterval = from.recheckInterval;
      probeTimeout = from.probeTimeout;
      failuresToDown = from.failuresToDown;
      passesToUp = from.passesToUp;
      proofOfLifeWindow = from.proofOfLifeWindow;
      loadMin = from.loadMin;
      loadMax = from.loadMax;
      loadTimeout = from.loadTimeout;
      capabilityInterval = from.capabilityInterval;
      capabilityTimeout = from.capabilityTimeout;
      telemetryStaleAfter = from.telemetryStaleAfter;
      degradation = from.degradation;
    }

    /** Sets {@link HealthSettings#probeInterval()}. */
    public Builder probeInterval(Duration value) {
      probeInterval = value;
      return this;
    }

    /** Sets {@link HealthSettings#recheckInterval()}. */
    public Builder recheckInterval(Duration value) {
      recheckInterval = value;
      return this;
    }

    /** Sets {@link HealthSettings#probeTimeout()}. */
    public Builder probeTimeout(Duration value) {
      probeTimeout = value;
      return this;
    }

    /** Sets {@link HealthSettings#failuresToDown()}. */
    public Builder failuresToDown(int value) {
      failuresToDown = value;
      return this;
    }

    /** Sets {@link HealthSettings#passesToUp()}. */
    public Builder passesToUp(int value) {
      passesToUp = value;
      return this;
    }

    /** Sets {@link HealthSettings#proofOfLifeWindow()}. */
    public Builder proofOfLifeWindow(Duration value) {
      proofOfLifeWindow = value;
      return this;
    }

    /** Sets {@link HealthSettings#loadMin()} and {@link HealthSettings#loadMax()}. */
    public Builder loadInterval(Duration min, Duration max) {
      loadMin = min;
      loadMax = max;
      return this;
    }

    /** Sets {@link HealthSettings#loadTimeout()}. */
    public Builder loadTimeout(Duration value) {
      loadTimeout = value;
      return this;
    }

    /** Sets {@link HealthSettings#capabilityInterval()}. */
    public Builder capabilityInterval(Duration value) {
      capabilityInterval = value;
      return this;
    }

    /** Sets {@link HealthSettings#capabilityTimeout()}. */
    public Builder capabilityTimeout(Duration value) {
      capabilityTimeout = value;
      return this;
    }

    /** Sets {@link HealthSettings#telemetryStaleAfter()}. */
    public Builder telemetryStaleAfter(Duration value) {
      telemetryStaleAfter = value;
      return this;
    }

    /** Sets {@link HealthSettings#degradation()}. */
    public Builder degradation(DegradationSettings value) {
      degradation = value;
      return this;
    }

    /**
     * The finished settings.
     *
     * @throws IllegalArgumentException saying which value to correct
     */
    public HealthSettings build() {
      return new HealthSettings(
          probeInterval,
          recheckInterval,
          probeTimeout,
          failuresToDown,
          passesToUp,
          proofOfLifeWindow,
          loadMin,
          loadMax,
          loadTimeout,
          capabilityInterval,
          capabilityTimeout,
          telemetryStaleAfter,
          degradation);
    }
  }
}
