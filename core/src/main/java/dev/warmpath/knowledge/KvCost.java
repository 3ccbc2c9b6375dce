package dev.warmpath.knowledge;

import java.util.OptionalDouble;

/**
 * What it takes to put the KV of a piece of knowledge in place, and what it saves. The defaults are
 * CacheRoute v0.1.9's ({@code proxy/metrics/queue_predictor.py}: a KV store behind LMCache, chunks
 * of 256 tokens); measure one's own where KV injection is used in earnest.
 *
 * @param charactersPerToken by how many characters a token is estimated; 4
 * @param chunkTokens KV is found again in whole chunks of so many tokens only; 256
 * @param bytesPerToken KV that is transferred for a token; 96,000
 * @param linkMbps bandwidth of a link that isn't told; 1,000
 * @param linkEfficiency the part of a link's bandwidth that a transfer gets; 0.825
 * @param loadMillisPerToken time for the engine to load a token's KV from where it was put; 0.1053
 * @param loadMillis the same for each load, whatever its size; 12.46
 * @param queuePenalty how much of a node's queue counts on top of itself, since it may grow; 0.5
 * @param marginMillis by how much KV has to be quicker to be worth it; 100
 * @param prefillTokensPerSecond how fast prompts are computed where that wasn't measured yet; 8,000
 */
public record KvCost(
    double charactersPerToken,
    int chunkTokens,
    double bytesPerToken,
    double linkMbps,
    double linkEfficiency,
    double loadMillisPerToken,
    double loadMillis,
    double queuePenalty,
    double marginMillis,
    double prefillTokensPerSecond) {

  /** The defaults. */
  public static final KvCost DEFAULT =
      new KvCost(4, 256, 96_000, 1_000, 0.825, 0.1053, 12.46, 0.5, 100, 8_000);

  /** Refuses what nothing could be divided by. */
  public KvCost {
    if (!(charactersPerToken > 0
        && chunkTokens > 0
        && bytesPerToken >= 0
        && linkMbps > 0
        && linkEfficiency > 0
        && prefillTokensPerSecond > 0)) {
      throw new IllegalArgumentException(
          "sizes, bandwidth and speed of a KV transfer must be positive");
    }
  }

  /** These with another size of KV. */
  public KvCost withBytesPerToken(double value) {
    return new KvCost(
        charactersPerToken,
        chunkTokens,
        value,
        linkMbps,
        linkEfficiency,
        loadMillisPerToken,
        loadMillis,
        queuePenalty,
        marginMillis,
        prefillTokensPerSecond);
  }

  /** These with another time to load it. */
  public KvCost withLoad(double millisPerToken, double millis) {
    return new KvCost(
        charactersPerToken,
        chunkTokens,
        bytesPerToken,
        linkMbps,
        linkEfficiency,
        millisPerToken,
        millis,
        queuePenalty,
        marginMillis,
        prefillTokensPerSecond);
  }

  /** These with another margin. */
  public KvCost withMarginMillis(double value) {
    return new KvCost(
        charactersPerToken,
        chunkTokens,
        bytesPerToken,
        linkMbps,
        linkEfficiency,
        loadMillisPerToken,
        loadMillis,
        queuePenalty,
        value,
        prefillTokensPerSecond);
  }

  /** Tokens of a piece whose KV can be found again. */
  long reusableTokens(int characters) {
    long tokens = (long) (characters / charactersPerToken);
    return tokens / chunkTokens * chunkTokens;
  }

  /** Milliseconds until the KV of so many tokens is in place and loaded. */
  double transferMillis(long tokens, KnowledgeLink link, OptionalDouble queueMillis) {
    double mbps = link.bandwidthMbps().orElse(linkMbps);
    double perByte = 8 / (Math.max(mbps, 1e-3) * 1e3 * linkEfficiency);
    return queueMillis.orElse(0) * (1 + queuePenalty)
        + link.latencyMillis().orElse(0)
        + tokens * bytesPerToken * perByte
        + tokens * loadMillisPerToken
        + loadMillis;
  }

  /**
   * Milliseconds to compute so many tokens.
   *
   * @param millisPerToken as measured; NaN where it wasn't
   */
  double recomputeMillis(long tokens, double millisPerToken) {
    return tokens * (Double.isNaN(millisPerToken) ? 1e3 / prefillTokensPerSecond : millisPerToken);
  }
}
