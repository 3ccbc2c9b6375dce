package dev.warmpath.index;

import dev.warmpath.worker.EngineKind;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How a {@link BlockLocator} is asked, and how its answers are understood. Immutable. */
public final class LookupSettings {
  /** 20 ms: what a look-up may add to a request whose prefill it may save. */
  public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(20);

  /** See {@link Builder#maxBlocks}. */
  public static final int DEFAULT_MAX_BLOCKS = 4_096;

  /** The defaults. */
  public static final LookupSettings DEFAULT = builder().build();

  private final Duration deadline;
  private final int maxBlocks;
  private final Map<EngineKind, BlockKeyEncoder> encoders;
  private final NodeIdResolver nodes;
  private final TierWeights weights;

  private LookupSettings(Builder builder) {
    this.deadline = builder.deadline;
    this.maxBlocks = builder.maxBlocks;
    this.encoders = new EnumMap<>(builder.encoders);
    this.nodes = builder.nodes;
    this.weights = builder.weights;
  }

  /** Starts with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** How long a request waits for an answer. */
  public Duration deadline() {
    return deadline;
  }

  /** The most blocks of a prompt that are asked for. */
  public int maxBlocks() {
    return maxBlocks;
  }

  /** How the blocks of an engine are named; null where they are not. */
  public @Nullable BlockKeyEncoder encoder(EngineKind engine) {
    return encoders.get(engine);
  }

  /** Finds the workers behind the store's names. */
  public NodeIdResolver nodes() {
    return nodes;
  }

  /** What a block is worth in each tier. */
  public TierWeights weights() {
    return weights;
  }

  /** Builds {@link LookupSettings}. Not thread safe. */
  public static final class Builder {
    private Duration deadline = DEFAULT_DEADLINE;
    private int maxBlocks = DEFAULT_MAX_BLOCKS;
    private final Map<EngineKind, BlockKeyEncoder> encoders = new EnumMap<>(EngineKind.class);
    private NodeIdResolver nodes = NodeIdResolver.standard();
    private TierWeights weights = TierWeights.DEFAULT;

    private Builder() {
      encoders.put(EngineKind.SGLANG, BlockKeyEncoder.decimal());
      encoders.put(EngineKind.ATOM, BlockKeyEncoder.decimal());
      encoders.put(EngineKind.VLLM, BlockKeyEncoder.digestAndGroup("", 0));
    }

    /**
     * Sets how long a request waits for an answer; {@link #DEFAULT_DEADLINE} by default.
     *
     * @throws IllegalArgumentException when it is not positive
     */
    public Builder deadline(Duration deadline) {
      if (deadline.isNegative() || deadline.isZero()) {
        throw new IllegalArgumentException("look-up deadline " + deadline + " must be positive");
      }
      this.deadline = deadline;
      return this;
    }

    /**
     * Sets the most blocks of a prompt that are asked for; {@link #DEFAULT_MAX_BLOCKS} by default,
     * which bounds what one prompt in small pages asks of the store.
     *
     * @throws IllegalArgumentException when it is not positive
     */
    public Builder maxBlocks(int maxBlocks) {
      if (maxBlocks < 1) {
        throw new IllegalArgumentException(maxBlocks + " blocks can't be asked for: use 1 or more");
      }
      this.maxBlocks = maxBlocks;
      return this;
    }

    /**
     * Sets how the blocks of an engine are named; by default {@link BlockKeyEncoder#decimal} for
     * SGLang and ATOM, and {@link BlockKeyEncoder#digestAndGroup} without a prefix for vLLM.
     */
    public Builder encoder(EngineKind engine, BlockKeyEncoder encoder) {
      encoders.put(engine, encoder);
      return this;
    }

    /** Sets what finds the workers; {@link NodeIdResolver#standard} by default. */
    public Builder nodes(NodeIdResolver nodes) {
      this.nodes = nodes;
      return this;
    }

    /** Sets what a block is worth in each tier; {@link TierWeights#DEFAULT} by default. */
    public Builder weights(TierWeights weights) {
      this.weights = weights;
      return this;
    }

    /** The finished settings. */
    public LookupSettings build() {
      return new LookupSettings(this);
    }
  }
}
