package dev.warmpath.fake.scheduler;

import dev.warmpath.worker.WorkerRole;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The knobs of a scheduler, named as vLLM and Dynamo's mocker name them.
 *
 * @param numBlocks KV blocks in the pool
 * @param blockSize tokens in a block
 * @param maxNumSeqs cap of the running set
 * @param maxNumBatchedTokens token budget of a pass
 * @param maxModelLen context length: prompts that reach it are rejected, generation stops at it
 * @param prefixCaching whether computed blocks are found again by later requests
 * @param chunkedPrefill whether a prompt may be computed over several passes
 * @param preemption which running request gives way when blocks run out
 * @param cacheEvents whether passes report stored and removed blocks
 * @param role what the worker computes: a prefill worker has no decode time, a decode worker no
 *     prefill time and no cache events
 * @param admission how much room a request must find
 * @param watermark share of the pool that admissions leave free while anything is held
 * @param firstTokenFromPrefill whether a pass that only completes prompts costs no decode step
 * @param transfer size of the KV and the way to a destination
 * @param offload lower cache tiers, or null; they need to know the size of the KV
 * @param speculation multi-token prediction, or null
 */
public record CoreOptions(
    int numBlocks,
    int blockSize,
    int maxNumSeqs,
    int maxNumBatchedTokens,
    int maxModelLen,
    boolean prefixCaching,
    boolean chunkedPrefill,
    PreemptionMode preemption,
    boolean cacheEvents,
    WorkerRole role,
    AdmissionPolicy admission,
    double watermark,
    boolean firstTokenFromPrefill,
    KvTransfer transfer,
    @Nullable OffloadOptions offload,
    @Nullable Speculation speculation) {

  /** Checks the ranges. */
  public CoreOptions {
    requirePositive(numBlocks, "numBlocks");
    requirePositive(blockSize, "blockSize");
    requirePositive(maxNumSeqs, "maxNumSeqs");
    requirePositive(maxNumBatchedTokens, "maxNumBatchedTokens");
    requirePositive(maxModelLen, "maxModelLen");
    Objects.requireNonNull(role, "role");
    Objects.requireNonNull(admission, "admission");
    Objects.requireNonNull(transfer, "transfer");
    if (!(watermark >= 0 && watermark < 1)) {
      throw new IllegalArgumentException("watermark must be from 0 to below 1, was " + watermark);
    }
  }

  /** Why the lower tiers that were asked for can't work, or null. */
  @Nullable String offloadProblem() {
    if (offload == null) {
      return null;
    }
    if (!prefixCaching) {
      return "blocks aren't offloaded: prefix caching is off, so that none is ever cached";
    }
    if (transfer.bytesPerToken() == 0) {
      return "blocks aren't offloaded: the size of a token's KV isn't known,"
          + " give CoreOptions.transfer() a bytesPerToken";
    }
    return null;
  }

  private static void requirePositive(int value, String name) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be at least 1, was " + value);
    }
  }

  /**
   * Starts from the mocker's defaults: 16,384 blocks of 64 tokens, 256 sequences, 8,192 tokens a
   * pass, prefix caching and chunked prefill on, no context limit but the pool.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Starts from these options.
   *
   * @return a builder that holds them
   */
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.numBlocks = numBlocks;
    builder.blockSize = blockSize;
    builder.maxNumSeqs = maxNumSeqs;
    builder.maxNumBatchedTokens = maxNumBatchedTokens;
    builder.maxModelLen = maxModelLen;
    builder.prefixCaching = prefixCaching;
    builder.chunkedPrefill = chunkedPrefill;
    builder.preemption = preemption;
    builder.cacheEvents = cacheEvents;
    builder.role = role;
    builder.admission = admission;
    builder.watermark = watermark;
    builder.firstTokenFromPrefill = firstTokenFromPrefill;
    builder.transfer = transfer;
    builder.offload = offload;
    builder.speculation = speculation;
    return builder;
  }

  /** Collects {@link CoreOptions}; not thread-safe. */
  public static final class Builder {

    private int numBlocks = 16_384;
    private int blockSize = 64;
    private int maxNumSeqs = 256;
    private int maxNumBatchedTokens = 8_192;
    private int maxModelLen = Integer.MAX_VALUE;
    private boolean prefixCaching = true;
    private boolean chunkedPrefill = true;
    private PreemptionMode preemption = PreemptionMode.LIFO;
    private boolean cacheEvents = false;
    private WorkerRole role = WorkerRole.REGULAR;
    private AdmissionPolicy admission = AdmissionPolicy.OPTIMISTIC;
    private double watermark = 0;
    private boolean firstTokenFromPrefill = false;
    private KvTransfer transfer = KvTransfer.INSTANT;
    private @Nullable OffloadOptions offload;
    private @Nullable Speculation speculation;

    private Builder() {}

    /**
     * Sets {@link CoreOptions#numBlocks()}.
     *
     * @param value KV blocks in the pool
     * @return this
     */
    public Builder numBlocks(int value) {
      numBlocks = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#blockSize()}.
     *
     * @param value tokens in a block
     * @return this
     */
    public Builder blockSize(int value) {
      blockSize = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#maxNumSeqs()}.
     *
     * @param value cap of the running set
     * @return this
     */
    public Builder maxNumSeqs(int value) {
      maxNumSeqs = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#maxNumBatchedTokens()}.
     *
     * @param value token budget of a pass
     * @return this
     */
    public Builder maxNumBatchedTokens(int value) {
      maxNumBatchedTokens = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#maxModelLen()}.
     *
     * @param value context length: prompts that reach it are rejected, generation stops at it
     * @return this
     */
    public Builder maxModelLen(int value) {
      maxModelLen = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#prefixCaching()}.
     *
     * @param value whether computed blocks are found again by later requests
     * @return this
     */
    public Builder prefixCaching(boolean value) {
      prefixCaching = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#chunkedPrefill()}.
     *
     * @param value whether a prompt may be computed over several passes
     * @return this
     */
    public Builder chunkedPrefill(boolean value) {
      chunkedPrefill = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#preemption()}.
     *
     * @param value which running request gives way when blocks run out
     * @return this
     */
    public Builder preemption(PreemptionMode value) {
      preemption = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#cacheEvents()}.
     *
     * @param value whether passes report stored and removed blocks
     * @return this
     */
    public Builder cacheEvents(boolean value) {
      cacheEvents = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#role()}.
     *
     * @param value what the worker computes: a prefill worker has no decode time, a decode worker
     *     no prefill time and no cache events
     * @return this
     */
    public Builder role(WorkerRole value) {
      role = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#admission()}.
     *
     * @param value how much room a request must find
     * @return this
     */
    public Builder admission(AdmissionPolicy value) {
      admission = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#watermark()}.
     *
     * @param value share of the pool that admissions leave free while anything is held
     * @return this
     */
    public Builder watermark(double value) {
      watermark = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#firstTokenFromPrefill()}.
     *
     * @param value whether a pass that only completes prompts costs no decode step
     * @return this
     */
    public Builder firstTokenFromPrefill(boolean value) {
      firstTokenFromPrefill = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#transfer()}.
     *
     * @param value size of the KV and the way to a destination
     * @return this
     */
    public Builder transfer(KvTransfer value) {
      transfer = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#offload()}.
     *
     * @param value lower cache tiers, or null; they need to know the size of the KV
     * @return this
     */
    public Builder offload(@Nullable OffloadOptions value) {
      offload = value;
      return this;
    }

    /**
     * Sets {@link CoreOptions#speculation()}.
     *
     * @param value multi-token prediction, or null
     * @return this
     */
    public Builder speculation(@Nullable Speculation value) {
      speculation = value;
      return this;
    }

    /**
     * Builds the options.
     *
     * @return the options
     * @throws IllegalArgumentException if a number is out of range
     */
    public CoreOptions build() {
      return new CoreOptions(
          numBlocks,
          blockSize,
          maxNumSeqs,
          maxNumBatchedTokens,
          maxModelLen,
          prefixCaching,
          chunkedPrefill,
          preemption,
          cacheEvents,
          role,
          admission,
          watermark,
          firstTokenFromPrefill,
          transfer,
          offload,
          speculation);
    }
  }
}
