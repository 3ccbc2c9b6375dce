package dev.warmpath.knowledge;

import dev.warmpath.api.KnowledgeInjection;
import java.time.Duration;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * How knowledge comes into prompts.
 *
 * @param way as text or as KV, unless a request says otherwise; {@link KnowledgeInjection#AUTO}
 * @param position where text is put that no KV is injected for; null, the default, for {@link
 *     InjectionPosition#AFTER_SYSTEM} where text is all that is asked for, else {@link
 *     InjectionPosition#BEFORE_SYSTEM}, so that a prompt is the same whichever way was taken
 * @param heading what is said above text that isn't at the front; empty for nothing
 * @param textTimeout how long texts may take to be fetched, in all, but for no more than a quarter
 *     of the request's deadline; 300 ms
 * @param kvTimeout how long KV may take to be in place, likewise; 300 ms. After it the request is
 *     sent as it is, and the engine computes what isn't there
 * @param kvMemory for how long KV that was put in place counts as being there, and is not asked for
 *     again, unless an engine's answer shows that it isn't; 60 s, zero for going by predictions
 *     alone
 * @param injectPort the port of the control plane beside each worker, where KV is asked for
 *     (CacheRoute's is 9002); empty, the default, for workers whose label {@code knowledge-inject}
 *     says a URL alone
 * @param maxPieces how many pieces a request may have; 8
 * @param maxCharacters how much text may be put into a prompt; 200,000 characters
 * @param textCacheBytes what texts that are kept may take on the heap; 64 MB
 * @param cost what KV costs and saves
 */
public record InjectionSettings(
    KnowledgeInjection way,
    @Nullable InjectionPosition position,
    String heading,
    Duration textTimeout,
    Duration kvTimeout,
    Duration kvMemory,
    OptionalInt injectPort,
    int maxPieces,
    int maxCharacters,
    long textCacheBytes,
    KvCost cost) {

  /**
   * Texts and KV may each take this part of a request's deadline: help must not cost the answer.
   */
  private static final int PART_OF_DEADLINE = 4;

  /** The defaults. */
  public static final InjectionSettings DEFAULT = builder().build();

  /** Refuses timeouts that aren't positive and bounds below one. */
  public InjectionSettings {
    if (textTimeout.isNegative()
        || textTimeout.isZero()
        || kvTimeout.isNegative()
        || kvTimeout.isZero()) {
      throw new IllegalArgumentException("the timeouts of texts and KV must be positive");
    }
    if (kvMemory.isNegative()) {
      throw new IllegalArgumentException("kvMemory " + kvMemory + " must be 0 or more");
    }
    if (maxPieces < 1 || maxCharacters < 1 || textCacheBytes < 0) {
      throw new IllegalArgumentException("at least one piece and character must have room");
    }
  }

  /**
   * A timeout that leaves a request the time to be answered.
   *
   * @param left how long it may take at all, or null for as long as it likes
   */
  static Duration within(Duration timeout, @Nullable Duration left) {
    Duration part = left == null ? timeout : left.dividedBy(PART_OF_DEADLINE);
    return part.compareTo(timeout) < 0 ? part : timeout;
  }

  InjectionPosition textPosition(KnowledgeInjection asked) {
    InjectionPosition set = position;
    return set != null
        ? set
        : asked == KnowledgeInjection.TEXT
            ? InjectionPosition.AFTER_SYSTEM
            : InjectionPosition.BEFORE_SYSTEM;
  }

  /** A builder that starts with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds {@link InjectionSettings}. Not thread safe. */
  public static final class Builder {
    private KnowledgeInjection way = KnowledgeInjection.AUTO;
    private @Nullable InjectionPosition position;
    private String heading = "Use what follows where it helps to answer.";
    private Duration textTimeout = Duration.ofMillis(300);
    private Duration kvTimeout = Duration.ofMillis(300);
    private Duration kvMemory = Duration.ofSeconds(60);
    private OptionalInt injectPort = OptionalInt.empty();
    private int maxPieces = 8;
    private int maxCharacters = 200_000;
    private long textCacheBytes = 64L << 20;
    private KvCost cost = KvCost.DEFAULT;

    private Builder() {}

    /** See {@link InjectionSettings#way()}. */
    public Builder way(KnowledgeInjection value) {
      way = value;
      return this;
    }

    /** See {@link InjectionSettings#position()}. */
    public Builder position(InjectionPosition value) {
      position = value;
      return this;
    }

    /** See {@link InjectionSettings#heading()}. */
    public Builder heading(String value) {
      heading = value;
      return this;
    }

    /** See {@link InjectionSettings#textTimeout()}. */
    public Builder textTimeout(Duration value) {
      textTimeout = value;
      return this;
    }

    /** See {@link InjectionSettings#kvTimeout()}. */
    public Builder kvTimeout(Duration value) {
      kvTimeout = value;
      return this;
    }

    /** See {@link InjectionSettings#kvMemory()}. */
    public Builder kvMemory(Duration value) {
      kvMemory = value;
      return this;
    }

    /** See {@link InjectionSettings#injectPort()}. */
    public Builder injectPort(int value) {
      injectPort = OptionalInt.of(value);
      return this;
    }

    /** See {@link InjectionSettings#maxPieces()}. */
    public Builder maxPieces(int value) {
      maxPieces = value;
      return this;
    }

    /** See {@link InjectionSettings#maxCharacters()}. */
    public Builder maxCharacters(int value) {
      maxCharacters = value;
      return this;
    }

    /** See {@link InjectionSettings#textCacheBytes()}. */
    public Builder textCacheBytes(long value) {
      textCacheBytes = value;
      return this;
    }

    /** See {@link InjectionSettings#cost()}. */
    public Builder cost(KvCost value) {
      cost = value;
      return this;
    }

    /** The settings. */
    public InjectionSettings build() {
      return new InjectionSettings(
          way,
          position,
          heading,
          textTimeout,
          kvTimeout,
          kvMemory,
          injectPort,
          maxPieces,
          maxCharacters,
          textCacheBytes,
          cost);
    }
  }
}
