package dev.warmpath.fake.scheduler;

import java.util.Objects;

/**
 * The knobs of SGLang's scheduler, named as its server arguments.
 *
 * @param core pool, page size, running cap, context length, cache, role and transfer; what belongs
 *     to vLLM alone has no meaning here: {@code maxNumBatchedTokens}, {@code preemption}, {@code
 *     admission} and {@code watermark}
 * @param schedulePolicy order of the waiting queue
 * @param maxPrefillTokens prompt tokens that the requests of one extend pass compute together; a
 *     single longer one is let through
 * @param chunkedPrefillSize prompt tokens of one extend pass, a multiple of the page size; a longer
 *     prompt is computed over several passes
 * @param clipMaxNewTokens how many output tokens of a request are reserved at most
 * @param scheduleConservativeness multiplies the share of the running requests' remaining output
 *     that admission keeps free
 */
public record SglangOptions(
    CoreOptions core,
    SchedulePolicy schedulePolicy,
    int maxPrefillTokens,
    int chunkedPrefillSize,
    int clipMaxNewTokens,
    double scheduleConservativeness) {

  /** Checks the ranges. */
  public SglangOptions {
    Objects.requireNonNull(core, "core");
    Objects.requireNonNull(schedulePolicy, "schedulePolicy");
    if (maxPrefillTokens < 1) {
      throw new IllegalArgumentException(
          "maxPrefillTokens must be at least 1, was " + maxPrefillTokens);
    }
    if (chunkedPrefillSize < 1 || chunkedPrefillSize % core.blockSize() != 0) {
      throw new IllegalArgumentException(
          "chunkedPrefillSize must be a multiple of the page size "
              + core.blockSize()
              + ", was "
              + chunkedPrefillSize);
    }
    if (clipMaxNewTokens < 0) {
      throw new IllegalArgumentException(
          "clipMaxNewTokens must be 0 or more, was " + clipMaxNewTokens);
    }
    if (!(scheduleConservativeness >= 0 && scheduleConservativeness < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "scheduleConservativeness must be 0 or more, was " + scheduleConservativeness);
    }
  }

  /**
   * Starts from SGLang's defaults: first come first served, chunks of 8,192 tokens, 16,384 prefill
   * tokens or one chunk if that is more, at most 4,096 output tokens reserved for a request,
   * conservativeness 1. The chunk is {@code maxNumBatchedTokens} of the core's options, whose
   * default is the same, or the next smaller multiple of the page size, at least one page.
   *
   * @param core pool, page size, running cap, context length, cache, role and transfer
   * @return a builder
   */
  public static Builder builder(CoreOptions core) {
    return new Builder(core);
  }

  /** Collects {@link SglangOptions}; not thread-safe. */
  public static final class Builder {
    private final CoreOptions core;
    private SchedulePolicy schedulePolicy = SchedulePolicy.FCFS;
    private int maxPrefillTokens;
    private int chunkedPrefillSize;
    private int clipMaxNewTokens = 4_096;
    private double scheduleConservativeness = 1;

    private Builder(CoreOptions core) {
      this.core = Objects.requireNonNull(core, "core");
      this.chunkedPrefillSize =
          Math.max(1, core.maxNumBatchedTokens() / core.blockSize()) * core.blockSize();
      this.maxPrefillTokens = Math.max(16_384, chunkedPrefillSize);
    }

    /**
     * Sets {@link SglangOptions#schedulePolicy()}.
     *
     * @param value order of the waiting queue
     * @return this
     */
    public Builder schedulePolicy(SchedulePolicy value) {
      schedulePolicy = value;
      return this;
    }

    /**
     * Sets {@link SglangOptions#maxPrefillTokens()}.
     *
     * @param value prompt tokens that the requests of one extend pass compute together
     * @return this
     */
    public Builder maxPrefillTokens(int value) {
      maxPrefillTokens = value;
      return this;
    }

    /**
     * Sets {@link SglangOptions#chunkedPrefillSize()}.
     *
     * @param value prompt tokens of one extend pass, a multiple of the page size
     * @return this
     */
    public Builder chunkedPrefillSize(int value) {
      chunkedPrefillSize = value;
      return this;
    }

    /**
     * Sets {@link SglangOptions#clipMaxNewTokens()}.
     *
     * @param value how many output tokens of a request are reserved at most
     * @return this
     */
    public Builder clipMaxNewTokens(int value) {
      clipMaxNewTokens = value;
      return this;
    }

    /**
     * Sets {@link SglangOptions#scheduleConservativeness()}.
     *
     * @param value multiplies the reserved share of the remaining output
     * @return this
     */
    public Builder scheduleConservativeness(double value) {
      scheduleConservativeness = value;
      return this;
    }

    /**
     * Builds the options.
     *
     * @return the options
     * @throws IllegalArgumentException if a number is out of range
     */
    public SglangOptions build() {
      return new SglangOptions(
          core,
          schedulePolicy,
          maxPrefillTokens,
          chunkedPrefillSize,
          clipMaxNewTokens,
          scheduleConservativeness);
    }
  }
}
